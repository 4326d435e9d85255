import { join, resolve, sep } from 'node:path'
import { goQuoted } from '@coracle/api/go-text'
import { CliError } from '../cli-error.ts'

/** The path of a file in a directory whose name comes from a server. Throws a CliError where that leads out: the server may be hostile. */
export function pathInside(directory: string, name: string): string {
  const root = resolve(directory)
  const path = join(root, name)
  if (path.startsWith(root.endsWith(sep) ? root : root + sep)) return path
  throw new CliError(`the server has a name that leads out of ${directory}: ${goQuoted(name)}`)
}
