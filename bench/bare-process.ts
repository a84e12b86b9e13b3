/** This process does nothing. The time that it needs to start is the floor for the start of the server. */
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
