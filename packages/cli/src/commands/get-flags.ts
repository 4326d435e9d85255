import type { KubernetesObject } from '@coracle/api'
import { withoutManagedFields } from '../output/serialize.ts'
import type { SelectorFlags } from '../resources/select-objects.ts'
import type { ConnectionFlags } from '../session.ts'

export interface GetFlags extends ConnectionFlags, SelectorFlags {
  readonly output?: 'wide' | 'json' | 'yaml' | 'name'
  readonly watch?: boolean
  readonly labelColumns: readonly string[]
  readonly showLabels?: boolean
  /** False with `--no-headers`. */
  readonly headers: boolean
  readonly ignoreNotFound?: boolean
  readonly showManagedFields?: boolean
}

/** An object as JSON and YAML show it. */
export function shown(object: KubernetesObject, flags: Pick<GetFlags, 'showManagedFields'>): unknown {
  const json = object as unknown as Record<string, unknown>
  return flags.showManagedFields === true ? json : withoutManagedFields(json)
}
