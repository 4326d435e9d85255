/** What the tables of most kinds have in common. */
import { humanDuration } from '../human-duration.ts'
import type { KubernetesObject } from '../meta.ts'
import type { Column } from '../resource.ts'
import { parseTime } from '../time.ts'

/** The column that identifies a row: the name of the object. */
export const nameColumn: Column<KubernetesObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among its kind in its namespace.',
  priority: 0,
  cell: (object) => object.metadata.name ?? '',
}

/** How long ago the object was created. */
export const ageColumn: Column<KubernetesObject> = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  priority: 0,
  cell: (object, nowMs) => timeSince(object.metadata.creationTimestamp, nowMs),
}

/** The time since `timestamp` in two or three figures, or `<unknown>` without one. */
export function timeSince(timestamp: string | undefined, nowMs: number): string {
  return timestamp === undefined ? '<unknown>' : humanDuration(nowMs - parseTime(timestamp))
}

/** Joined by commas, in the order given: names or images of containers. */
export const joined = (texts: readonly string[]): string => texts.join(',')
