"""What a reader of a deal should be told before it is signed: one finding to a module, found by looking."""
