/** Tables, as `kubectl get` asks for them, and objects reduced to their metadata. Shapes are those of meta.k8s.io/v1. */
import type { KubernetesObject, ListMeta, ObjectMeta } from './meta.ts'
import type { Cell, ResourceDefinition } from './resource.ts'

/** What a row carries beside its cells: the object's metadata, nothing, or the whole object. */
export type IncludeObject = 'Metadata' | 'None' | 'Object'

export interface PartialObjectMetadata {
  readonly kind: 'PartialObjectMetadata'
  readonly apiVersion: 'meta.k8s.io/v1'
  readonly metadata: ObjectMeta
}

export interface PartialObjectMetadataList {
  readonly kind: 'PartialObjectMetadataList'
  readonly apiVersion: 'meta.k8s.io/v1'
  readonly metadata: ListMeta
  readonly items: readonly PartialObjectMetadata[]
}

export interface TableColumnDefinition {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

export interface TableRow {
  readonly cells: readonly Cell[]
  /** `null` where the request wants none. */
  readonly object: PartialObjectMetadata | KubernetesObject | null
}

export interface Table {
  readonly kind: 'Table'
  readonly apiVersion: 'meta.k8s.io/v1'
  readonly metadata: ListMeta
  readonly columnDefinitions: readonly TableColumnDefinition[]
  readonly rows: readonly TableRow[]
}

export interface TableOptions {
  /** The time ages are counted to. */
  readonly nowMs: number
  readonly includeObject?: IncludeObject
  readonly listMeta?: ListMeta
}

/** The table of some objects of a kind. */
export function tableOf<T extends KubernetesObject>(
  definition: Pick<ResourceDefinition<T>, 'columns' | 'tableOrder'>,
  objects: readonly T[],
  { nowMs, includeObject = 'Metadata', listMeta = {} }: TableOptions,
): Table {
  const { tableOrder } = definition
  const shown = tableOrder === undefined ? objects : objects.toSorted((a, b) => tableOrder(a, b))
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMeta,
    columnDefinitions: columnDefinitions(definition),
    rows: shown.map((object) => tableRow(definition, object, nowMs, includeObject)),
  }
}

/** The heads of a kind's table. */
export function columnDefinitions<T extends KubernetesObject>(
  definition: Pick<ResourceDefinition<T>, 'columns'>,
): readonly TableColumnDefinition[] {
  return definition.columns.map(({ name, type, format = '', description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
}

/** One row. */
export function tableRow<T extends KubernetesObject>(
  definition: Pick<ResourceDefinition<T>, 'columns'>,
  object: T,
  nowMs: number,
  includeObject: IncludeObject,
): TableRow {
  return {
    cells: definition.columns.map((column) => column.cell(object, nowMs)),
    object: includeObject === 'None' ? null : includeObject === 'Object' ? object : partialObjectMetadata(object),
  }
}

/** An object without all but its metadata. */
export function partialObjectMetadata(object: KubernetesObject): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata }
}

/** A list whose items are without all but their metadata. */
export function partialObjectMetadataList(
  objects: readonly KubernetesObject[],
  listMeta: ListMeta,
): PartialObjectMetadataList {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMeta,
    items: objects.map(partialObjectMetadata),
  }
}
