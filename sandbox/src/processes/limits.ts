/** How long a server or an enclave may take until it reports that it is ready. Each loads in less than a second. */
export const READY_MS_MAX = 30_000
/** How long a program may take to finish its work after it was asked to stop. Then it is killed. */
export const STOP_MS_MAX = 10_000
/** The time limit of a message to another local process and its reply. On a busy machine, it has taken more than 5 s. */
export const CLOCK_ACK_MS_MAX = 15_000
