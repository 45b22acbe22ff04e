package oracle

// ID is the requirement at an index.
func ID(i int) string { return requirements[i].ID }
