import type { ManifestFlags } from '../manifests/load-manifests.ts'
import type { OutputFormatFlags } from '../output/output-format.ts'
import type { SelectorFlags } from '../resources/select-objects.ts'
import type { ConnectionFlags } from '../session.ts'

export interface GetFlags extends ConnectionFlags, SelectorFlags, ManifestFlags, OutputFormatFlags {
  /** A path of the server to print as it is. */
  readonly raw?: string
  /** Of the objects, this subresource: status, scale or resize. */
  readonly subresource?: string
  /** With a watch: each change with what kind of change it is. */
  readonly outputWatchEvents?: boolean
  readonly watch?: boolean
  readonly watchOnly?: boolean
  /** Whether tables are drawn by the server, or here with names and ages alone. */
  readonly serverPrint: boolean
  readonly chunkSize: number
  readonly sortBy?: string
  readonly labelColumns: readonly string[]
  readonly showLabels?: boolean
  readonly showKind?: boolean
  /** False with `--no-headers`. */
  readonly headers: boolean
  readonly ignoreNotFound?: boolean
  readonly showManagedFields?: boolean
  readonly allowMissingTemplateKeys: boolean
}
