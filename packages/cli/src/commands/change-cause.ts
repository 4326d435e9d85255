import type { KubernetesObject } from '@coracle/api'
import type { Session } from '../session.ts'
import type { Target } from './targets.ts'

/** Where objects say what changed them last, for `rollout history`. */
export const changeCauseAnnotation = 'kubernetes.io/change-cause'

/** What `--record` comes to. */
export interface RecordFlags {
  /** The command line, to be noted in the object; undefined without `--record`. */
  readonly changeCause?: string
}

/** The object with the command that makes or changes it, where that is to be noted. */
export function withChangeCause<T extends KubernetesObject>(object: T, { changeCause }: RecordFlags): T {
  if (changeCause === undefined) return object
  const { metadata } = object
  const annotations = { ...metadata.annotations, [changeCauseAnnotation]: changeCause }
  return { ...object, metadata: { ...metadata, annotations } }
}

/** Notes the command in an object that it has changed by a write of another form. */
export async function noteChangeCause(
  { client }: Session,
  { resource, key }: Pick<Target, 'resource' | 'key'>,
  { changeCause }: RecordFlags,
  fieldManager: string,
): Promise<void> {
  if (changeCause === undefined) return
  const body = { metadata: { annotations: { [changeCauseAnnotation]: changeCause } } }
  await client.patch(resource, key, { type: 'merge', body }, { fieldManager })
}
