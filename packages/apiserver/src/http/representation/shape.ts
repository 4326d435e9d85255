import {
  ApiError,
  apiVersionOf,
  badRequest,
  columnDefinitions,
  type IncludeObject,
  jsonFormOf,
  type KubernetesObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  type ResourceDefinition,
  type Table,
  type TableColumnDefinition,
  type TableRow,
  tableOf,
  tableRow,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Page, WatchDelivery } from '../../registry-contract.ts'
import { hasTypedItems, listMetaOf, wholeListMetaOf } from './list-parts.ts'
import type { Accepted } from './negotiation.ts'

/** The event of a watch that carries an object: all but ERROR. */
export type ObjectEvent = Exclude<WatchDelivery['event'], { readonly type: 'ERROR' }>

/** What is told of objects: all, their metadata, or the cells of a table. Values of JSON, whatever they are written in. */
export interface Shape {
  /** Throws NotAcceptable (406) where it is a shape of lists alone. */
  object(definition: ResourceDefinition, object: KubernetesObject): unknown
  /** Throws NotAcceptable (406) where it is a shape of single objects alone. */
  page(definition: ResourceDefinition, page: Page): unknown
  /** The `object` of each event of one watch, in their order. Undefined: the object itself. */
  events?(definition: ResourceDefinition): (event: ObjectEvent) => unknown
}

/** Objects as they are. */
export const wholeObjects: Shape = {
  object: (_definition, object) => jsonFormOf(object),
  page: (definition, page) => ({
    kind: definition.listKind,
    apiVersion: apiVersionOf(definition),
    metadata: wholeListMetaOf(definition, page),
    items: objectsOf(page).map((object) => itemOf(definition, jsonFormOf(object))),
  }),
}

function itemOf(definition: ResourceDefinition, object: KubernetesObject): object {
  if (!hasTypedItems(definition)) return object
  const { apiVersion: _apiVersion, kind: _kind, ...item } = object
  return item
}

/** Nothing of objects but their metadata; `as` is what was asked for, one or a list of them. */
export function metadataOnly(as: 'PartialObjectMetadata' | 'PartialObjectMetadataList', version: MetaVersion): Shape {
  return {
    object(definition, object) {
      if (as === 'PartialObjectMetadata') return inVersion(version, partialObjectMetadata(object))
      throw notA(
        `you requested PartialObjectMetadataList, but the requested object is not a list (*${goTypeOf(definition)})`,
      )
    },
    page(definition, page) {
      if (as === 'PartialObjectMetadataList') {
        return inVersion(version, partialObjectMetadataList(objectsOf(page), listMetaOf(page)))
      }
      throw notA(
        `you requested PartialObjectMetadata, but the requested object is a list (*${goTypeOf(definition, 'List')})`,
      )
    },
    events: () => (event) => inVersion(version, partialObjectMetadata(event.object)),
  }
}

/** A table for people: its columns are those of the kind. */
export function tables(includeObject: IncludeObject, version: MetaVersion, clock: Clock): Shape {
  return {
    object(definition, object) {
      const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' }
      return tableIn(version, tableOf(definition, [object], { nowMs: clock.now(), includeObject, listMeta }))
    },
    page(definition, page) {
      const options = { nowMs: clock.now(), includeObject, listMeta: listMetaOf(page) }
      return tableIn(version, tableOf(definition, objectsOf(page), options))
    },
    events(definition) {
      // Clients keep the heads of the first table for all that follow.
      let heads: readonly TableColumnDefinition[] | null = columnDefinitions(definition)
      return ({ type, object }) => {
        const row =
          type === 'BOOKMARK'
            ? { cells: [], object: bookmarkObject(definition, object, includeObject) }
            : tableRow(definition, object, clock.now(), includeObject)
        const table = {
          kind: 'Table',
          apiVersion: `meta.k8s.io/${version}`,
          metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
          columnDefinitions: heads,
          rows: [rowIn(version, row)],
        }
        heads = null
        return table
      }
    },
  }
}

/** Which objects a table's rows carry; 400 for anything that is no such choice. */
export function includeObjectOf(value: string | null): IncludeObject {
  if (value === null || value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: ` +
      `must be 'Metadata', 'Object', 'None', or empty`,
  )
}

type MetaVersion = Accepted['metaVersion']

const objectsOf = (page: Page): readonly KubernetesObject[] => page.items.map((item) => item.withManagedFields)

const inVersion = (version: MetaVersion, value: { readonly apiVersion: string }) => ({
  ...value,
  apiVersion: `meta.k8s.io/${version}`,
})

const tableIn = (version: MetaVersion, table: Table) =>
  inVersion(version, version === 'v1' ? table : { ...table, rows: table.rows.map((row) => rowIn(version, row)) })

/** The row with the metadata of its object, where that is all there is of it, in a version. */
function rowIn<R extends Pick<TableRow, 'object'>>(version: MetaVersion, row: R): R {
  const { object } = row
  return object?.kind === 'PartialObjectMetadata' ? { ...row, object: inVersion(version, object) } : row
}

/** The Go type in which upstream holds an object, or a list of them, for messages: custom kinds have no type of their own. */
function goTypeOf({ group, kind, listKind, schema }: ResourceDefinition, list: '' | 'List' = ''): string {
  if (schema.dialect === 'structural') return `unstructured.Unstructured${list}`
  return `${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${list === '' ? kind : listKind}`
}

const notA = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message)

/** A bookmark has no fields to make cells of: only what tells the position. */
function bookmarkObject(definition: ResourceDefinition, object: KubernetesObject, includeObject: IncludeObject) {
  if (includeObject === 'None') return null
  if (includeObject === 'Metadata') return partialObjectMetadata(object)
  return { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata: object.metadata }
}
