import {
  apiVersionOf,
  applyConflict,
  builtinKinds,
  emptyObjectOf,
  type FieldOwners,
  type KubernetesObject,
  managedFieldsOf,
  ownersOf,
  type Resource,
  recordApply,
  recordUpdate,
  type Schema,
} from '@coracle/api'
import type { ApplyConfiguration, ApplyOptions, WriteOptions } from '../client.ts'

/** The manager of writes that name none. */
const defaultManager = 'fake-client'

/** Of kinds that are not built in nothing is known: their lists belong to one manager each. */
const openSchema: Schema = {
  type: 'object',
  name: '',
  doc: '',
  dialect: 'structural',
  preserveUnknownFields: true,
  fields: {},
}

/**
 * An object after a server-side apply, with its owners in `managedFields`; `live` is undefined where there is none yet. Throws the
 * Conflict that a server answers where others own what would change, unless it is forced.
 */
export function appliedTo<T extends KubernetesObject>(
  resource: Resource<T>,
  live: KubernetesObject | undefined,
  configuration: ApplyConfiguration<T>,
  { fieldManager: name, force = false, subresource = '' }: ApplyOptions,
  time: string,
): KubernetesObject {
  const schema = schemaOf(resource)
  const apiVersion = apiVersionOf(resource)
  const { value, owners, conflicts } = recordApply(
    {
      live: live === undefined ? emptyObjectOf(schema) : withOwners(live, []),
      configuration,
      schema,
      owners: live === undefined ? [] : ownersOfObject(live),
      manager: { name, operation: 'Apply', apiVersion, subresource },
      versions: versionsOf(resource, schema),
    },
    force,
    time,
  )
  if (conflicts.length > 0) throw applyConflict(conflicts)
  return withOwners(value as KubernetesObject, owners)
}

/**
 * An object after another write. Nobody owns anything until somebody has applied to it; from then on whoever writes owns what changes.
 */
export function writtenTo(
  resource: Resource,
  old: KubernetesObject,
  changed: KubernetesObject,
  { fieldManager: name = defaultManager, subresource = '' }: WriteOptions,
  time: string,
): KubernetesObject {
  const owners = ownersOfObject(old)
  if (owners.length === 0) return changed
  const apiVersion = apiVersionOf(resource)
  const schema = schemaOf(resource)
  const before = withOwners(old, [])
  const after = withOwners(changed, [])
  const manager = { name, operation: 'Update', apiVersion, subresource } as const
  const change = { before, after, owners, manager, versions: versionsOf(resource, schema) }
  return withOwners(after, recordUpdate(change, time))
}

function schemaOf(resource: Resource): Schema {
  const kind = builtinKinds.find(({ plural, group }) => plural === resource.plural && group === resource.group)
  return kind?.schema ?? openSchema
}

/** A kind has one version here. */
function versionsOf(resource: Resource, schema: Schema) {
  const served = apiVersionOf(resource)
  return {
    schemaOf: (apiVersion: string) => (apiVersion === served ? schema : undefined),
    convert: (value: unknown) => value,
  }
}

const ownersOfObject = ({ metadata }: KubernetesObject): FieldOwners => ownersOf(metadata.managedFields ?? []) ?? []

function withOwners(object: KubernetesObject, owners: FieldOwners): KubernetesObject {
  const { managedFields: _former, ...metadata } = object.metadata
  return {
    ...object,
    metadata: owners.length === 0 ? metadata : { ...metadata, managedFields: managedFieldsOf(owners) },
  }
}
