"""Tour of perfdb: declared steps that a browser walks, with pictures, text and tests."""
