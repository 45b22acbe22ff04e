package faulty

// InWindow has f called where a fault gives the mutex up in the middle of a step.
func (l *Loop) InWindow(f func()) { l.planted.inWindow = f }

// Locked reports whether the mutex is held.
func (l *Loop) Locked() bool {
	if l.mu.TryLock() {
		l.mu.Unlock()
		return false
	}
	return true
}
