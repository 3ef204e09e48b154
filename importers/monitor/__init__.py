"""Common parts of VMPRF and Performance Toolkit listings: pages, title blocks, columns and rows.

Both print pages with a title block, headings over fixed columns, and a row a line. The formats differ in report names
and
their meaning.
"""
