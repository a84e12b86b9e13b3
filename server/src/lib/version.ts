import server from '../../package.json' with { type: 'json' }

/** The version of this program, such as `0.2.0`. It changes with every release. The version of the API is `v1`. */
export const VERSION: string = server.version
