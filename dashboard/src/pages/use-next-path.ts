import { useSearchParams } from 'react-router'
import { parseNextPath } from '../navigation/next-path.ts'

/** The page to open after sign-in. */
export function useNextPath(): string {
  const [parameters] = useSearchParams()
  return parseNextPath(parameters.get('next'))
}
