import type { StateReport } from '@coracle/apiserver'
import type { Host } from '../host.ts'

/** Warns of what has not found its way from one cluster into another. */
export function tellStateReport({ stderr }: Pick<Host, 'stderr'>, report: StateReport): void {
  const { unknownKinds, droppedFields, refusedObjects, untold } = report
  const lines = [
    ...unknownKinds.map(
      ({ apiVersion, kind, count }) => `${objects(count, kind)} of ${apiVersion}: this server has no such kind`,
    ),
    ...droppedFields.map(({ apiVersion, kind, field, count }) => `${objects(count, kind)} of ${apiVersion}: ${field}`),
    ...refusedObjects.map(({ object, message }) => `${object}: ${message}`),
    ...(untold === 0 ? [] : [`${untold} more`]),
  ]
  for (const line of lines) stderr.write(`Warning: left out: ${line}\n`)
}

const objects = (count: number, kind: string): string => (count === 1 ? `a ${kind}` : `${count} objects ${kind}`)
