import { CliError } from '../../cli-error.ts'

/** A path here, or in a pod. */
export interface FileSpec {
  readonly namespace?: string
  /** Absent: here. */
  readonly pod?: string
  readonly path: string
}

/** Reads `PATH`, `POD:PATH` or `NAMESPACE/POD:PATH`. Throws a CliError for what is none of these. */
export function parseFileSpec(text: string): FileSpec {
  const at = text.indexOf(':')
  if (at < 0) return { path: text }
  const names = text.slice(0, at).split('/')
  const path = text.slice(at + 1)
  const [first = '', second] = names
  if (at === 0 || names.length > 2 || first === '' || second === '') {
    throw new CliError('filespec must match the canonical format: [[namespace/]pod:]file/path')
  }
  return second === undefined ? { pod: first, path } : { namespace: first, pod: second, path }
}
