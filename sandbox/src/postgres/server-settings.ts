import { formatClusterName } from './stop-leftover.ts'

type ServerSettings = {
  readonly host: string
  readonly port: number
  readonly maxConnections: number
  readonly durable: boolean
}

/**
 * The server's command line after `-D`. All settings are given here, so the cluster's files stay as `initdb` made them.
 */
export const formatSettings = (settings: ServerSettings): string[] => {
  const values: Record<string, string | number> = {
    listen_addresses: settings.host,
    port: settings.port,
    // Clients use TCP on loopback. A socket path may be at most 107 bytes long, and a deep checkout exceeds that.
    unix_socket_directories: '',
    max_connections: settings.maxConnections,
    cluster_name: formatClusterName(process.pid),
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The log shows only the server's own life cycle and its panics. A statement's error goes to the client that sent
    // it.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...SMALL,
    ...(settings.durable ? {} : THROW_AWAY),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Keeps the sandbox small: no unused helper processes, little shared memory, a short log to replay. */
const SMALL = {
  shared_buffers: '32MB',
  huge_pages: 'off',
  io_method: 'sync',
  jit: 'off',
  work_mem: '4MB',
  maintenance_work_mem: '16MB',
  autovacuum_worker_slots: 2,
  autovacuum_max_workers: 1,
  max_worker_processes: 0,
  max_parallel_workers: 0,
  max_parallel_workers_per_gather: 0,
  max_logical_replication_workers: 0,
  max_wal_senders: 0,
  wal_level: 'minimal',
  min_wal_size: '32MB',
  max_wal_size: '128MB',
}

/** For clusters that a test deletes: nothing has to survive a crash of the machine. */
const THROW_AWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
