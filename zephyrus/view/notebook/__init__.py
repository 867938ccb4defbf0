"""What objects look like in a notebook: small pieces of HTML, in which text is only ever text."""
