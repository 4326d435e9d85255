import { type ColumnSource, joined, wideColumn } from '../../columns.ts'
import type { PodTemplateSpec } from './pod-template.ts'

/** The columns of `-o wide` that say what the pods of a template run. */
export function containerColumns<T>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
): readonly ColumnSource<T>[] {
  const containers = (object: T) => templateOf(object)?.spec.containers ?? []
  return [
    wideColumn('Containers', (each) => joined(containers(each).map(({ name }) => name)), 'Names of the containers.'),
    wideColumn('Images', (each) => joined(containers(each).map(({ image = '' }) => image)), 'Images they run.'),
  ]
}
