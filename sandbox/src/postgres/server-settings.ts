import { formatClusterName } from './stop-leftover.ts'

type ServerSettings = {
  readonly host: string
  readonly port: number
  readonly maxConnections: number
  readonly durable: boolean
  readonly change: Readonly<Record<string, string>>
}

/**
 * Returns the server's command line after `-D`. It contains all settings, so the files of the cluster stay as `initdb`
 * wrote them.
 */
export const formatSettings = (settings: ServerSettings): string[] => {
  const values: Record<string, string | number> = {
    listen_addresses: settings.host,
    port: settings.port,
    // Clients connect over TCP on loopback. We use no socket file, because its path may be at most 107 bytes long, and
    // the path of a deep checkout is longer.
    unix_socket_directories: '',
    max_connections: settings.maxConnections,
    cluster_name: formatClusterName(process.pid),
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The log shows only the server's starts and stops, and its panics. If a statement fails, only the client that sent
    // it gets the error.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...SMALL,
    ...(settings.durable ? {} : THROW_AWAY),
    ...settings.change,
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/**
 * Settings that keep the sandbox small: no unused helper processes, little shared memory, and a short log to replay.
 */
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

/**
 * Settings for clusters that a test deletes. Their data need not survive a crash of the machine. Nothing is vacuumed or
 * analyzed in the background, because that starts a process every few seconds, and plans would depend on when it runs.
 * Shared memory is in files of the cluster. Otherwise, a cluster that is killed and then deleted would leave it behind.
 */
const THROW_AWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  dynamic_shared_memory_type: 'mmap',
}
