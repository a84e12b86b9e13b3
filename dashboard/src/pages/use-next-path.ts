import { useSearchParams } from 'react-router'
import { parseNextPath } from '../navigation/next-path.ts'

/** Where to go on to after signing in. */
export function useNextPath(): string {
  const [parameters] = useSearchParams()
  return parseNextPath(parameters.get('next'))
}
