"""Published studies: loading a document's data, auditing what it prints, and answering its report."""
