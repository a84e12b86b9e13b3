import type { Cell } from '../values/secret.ts'

/** Returns the path below which the transparency log is. Each cell has a log of its own (D95). */
export function pathOfLog({ cell }: { readonly cell: Cell | null }): string {
  return cell === null ? '/log' : `/log/${cell}`
}

/** Returns the name of the log: the address of its files, without `https://` (C2SP tlog-tiles). */
export function originOfLog({ baseUrl, cell }: { readonly baseUrl: string; readonly cell: Cell | null }): string {
  return new URL(baseUrl).host + pathOfLog({ cell })
}
