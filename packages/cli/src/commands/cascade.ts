import type { DeleteOptions } from '@coracle/client'
import { CliError } from '../cli-error.ts'

/** The API's words for `--cascade`; the first two are kubectl's of old. */
const policies: Readonly<Record<string, DeleteOptions['propagationPolicy'] & string>> = {
  true: 'Background',
  false: 'Orphan',
  background: 'Background',
  foreground: 'Foreground',
  orphan: 'Orphan',
}

/** What becomes of dependents. Throws a CliError where `--cascade` says nothing that is known. */
export function propagationPolicy(cascade: string): DeleteOptions['propagationPolicy'] & string {
  const policy = policies[cascade]
  if (policy !== undefined) return policy
  throw new CliError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`)
}
