"""Monitor reports of z/VM: shared reading of listings of VMPRF and the Performance Toolkit."""
