import type { KubernetesObject } from '@coracle/api'
import type { Host } from '../host.ts'

/** What is changed of an object that is on its way out goes with it. */
export function warnIfDeleting({ stderr }: Host, { metadata }: KubernetesObject): void {
  if (metadata.deletionTimestamp === undefined) return
  stderr.write(`Warning: Detected changes to resource ${metadata.name} which is currently being deleted.\n`)
}
