/** This process does nothing. It is the floor of the time that a process needs to start. */
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
