"""What is measured, by subject; each module makes Cases."""
