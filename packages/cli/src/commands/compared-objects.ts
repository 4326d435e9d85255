import { isJsonObject, type JsonObject, type KubernetesObject } from '@coracle/api'
import { withoutManagedFields } from '../output/serialize.ts'

/** An object as it is, and as it would be; undefined: it is not there. */
export interface Compared {
  readonly live: KubernetesObject | undefined
  readonly merged: KubernetesObject
}

/** Both as they are shown. */
interface ShownPair extends Compared {
  /** Whether what a Secret holds is left out. */
  readonly isMasked: boolean
}

/** What is shown of objects that else is left out. */
export interface ShownFlags {
  readonly showManagedFields?: boolean
  readonly showSecrets?: boolean
}

/** Both as they are shown: Secrets without what they hold, and nothing with who owns which field, unless that is wanted. */
export function compared(
  { live, merged }: Compared,
  { showManagedFields = false, showSecrets = false }: ShownFlags,
): ShownPair {
  const plain = <T extends KubernetesObject | undefined>(object: T): T =>
    showManagedFields || object === undefined
      ? object
      : (withoutManagedFields(object as unknown as JsonObject) as unknown as T)
  const both = { live: plain(live), merged: plain(merged) }
  const isMasked = isSecret(merged) && !showSecrets
  return { ...(isMasked ? masked(both) : both), isMasked }
}

/** Whatever its group, as for kubectl. */
const isSecret = ({ apiVersion, kind }: KubernetesObject): boolean =>
  kind === 'Secret' && /^(.*\/)?v1$/.test(apiVersion)

/** Secrets show that they differ, and not what they hold. */
function masked({ live, merged }: Compared): Compared {
  const [before, after] = [dataOf(live), dataOf(merged)]
  const mask = (values: JsonObject, others: JsonObject, word: string): JsonObject =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        !Object.hasOwn(others, key) || others[key] === value ? '***' : `*** (${word})`,
      ]),
    )
  const withData = (object: KubernetesObject, data: JsonObject): KubernetesObject =>
    'data' in object ? Object.assign({ ...object }, { data }) : object
  return {
    live: live === undefined ? undefined : withData(live, mask(before, after, 'before')),
    merged: withData(merged, mask(after, before, 'after')),
  }
}

function dataOf(object: KubernetesObject | undefined): JsonObject {
  const data = object !== undefined && 'data' in object ? object.data : undefined
  return isJsonObject(data) ? data : {}
}
