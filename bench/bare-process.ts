/**
 * This process does nothing. The time that it needs to start is the floor: no process of the same Node starts in less.
 */
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
