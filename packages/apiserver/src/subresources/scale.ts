import {
  type ApiError,
  ageColumn,
  apiVersionOf,
  badRequest,
  column,
  columnsOf,
  compile,
  conflict,
  FieldPath,
  internalError,
  invalid,
  invalidField,
  type KubernetesObject,
  nameColumn,
  noFields,
  notFound,
  type ResourceDefinition,
  type Scale,
  type ScaleMapping,
  scaleSchema,
} from '@coracle/api'
import { readConfiguration } from '../registry/apply-configuration.ts'
import { type DecodedBody, decodeBody } from '../registry/body.ts'
import type { ChangedPart } from '../registry/changed-part.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import { applyPatch, decodePatched } from '../registry/patching.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { type StoredObject, unstored } from '../watch-cache/stored-object.ts'
import type { Subresource, SubresourceResult } from './subresource.ts'

const columns = columnsOf(scaleSchema, [
  nameColumn,
  column('Desired', ({ spec }) => spec?.replicas ?? 0, { field: 'spec.replicas' }),
  column('Available', ({ status }) => status?.replicas ?? 0, { field: 'status.replicas' }),
  ageColumn,
])

/** What of a Scale's definition decoding and patching need: it is never stored. */
const scaleKind = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: scaleSchema,
  namespaced: true,
  columns,
}

const definition = scaleKind as unknown as ResourceDefinition

const replicasInScale = { 'f:spec': { 'f:replicas': noFields } }

/** `<resource>/scale`: how many there are and should be, as an autoscaling/v1 Scale over whatever the mapping says. */
export function scaleSubresource(registry: ResourceRegistry, mapping: ScaleMapping<KubernetesObject>): Subresource {
  const { group, plural, schema } = registry.definition
  // Of custom resources the object is checked, and the scale is not.
  const isCustom = schema.dialect === 'structural'
  const validate = isCustom ? isThere : isValid
  const about = { group, plural: `${plural}/scale` }
  const part: ChangedPart = {
    subresource: 'scale',
    rules: 'main',
    view: {
      kind: definition,
      of: async (object) => scaleOf(mapping, await registry.fromHub(object)),
      apply: async (object, written) => {
        const scale = written as Scale
        validate(scale, object.metadata.name ?? '')
        return registry.toHub(mapping.withReplicas(await registry.fromHub(object), scale.spec?.replicas ?? 0))
      },
      // All that a Scale has of the object's fields is the number of replicas, and all have set that in the Scale's version (ScaleHandler).
      conflictOf: ({ manager }) => ({
        manager: { ...manager, apiVersion: apiVersionOf(scaleKind) },
        fields: replicasInScale,
      }),
    },
  }
  /** Warnings of what a write changed are about the object: a scale brings it to act on the whole of its spec. */
  const answer = ({ stored, warnings }: Pick<WriteResult, 'stored' | 'warnings'>) => {
    const scale = scaleOf(mapping, stored.object)
    return {
      code: 200,
      value: scale,
      stored: unstored(scale, stored.revision, []),
      kind: definition,
      warnings,
    } satisfies SubresourceResult
  }

  /** What is applied to the scale is applied to the field of the object that it stands for. */
  const apply = async (
    context: RequestContext,
    namespace: string,
    name: string,
    body: unknown,
    options: RegistryWriteOptions,
  ) => {
    const { object, ...read } = readConfiguration(scaleKind, body, options)
    const { metadata, spec } = object as Scale
    const { replicas } = spec ?? {}
    if (replicas !== undefined) validate(object as Scale, name)
    else if (mapping.missing !== undefined) {
      const current = await registry.current(namespace, name)
      const missing = current && mapping.missing((await registry.show(current)).object)
      if (missing !== undefined) throw emptyReplicas(missing)
    }
    const { apiVersion, kind } = typeOf(registry.definition)
    const { name: ownName, namespace: ownNamespace, resourceVersion, uid } = metadata
    const identity = defined({ name: ownName, namespace: ownNamespace, resourceVersion, uid })
    const whole: KubernetesObject = { apiVersion, kind, metadata: identity }
    const configuration = replicas === undefined ? whole : mapping.withReplicas(whole, replicas)
    return answer(await registry.apply(context, namespace, name, part, { object: configuration, ...read }, options))
  }

  /** A scale that names no version is for whichever there is, also of an object that could not be written so itself. */
  const checkVersion = (
    old: StoredObject,
    { uid, resourceVersion = '' }: Pick<Scale['metadata'], 'uid' | 'resourceVersion'>,
  ) => registry.checkVersion(old, { uid, resourceVersion: resourceVersion || old.object.metadata.resourceVersion })

  return {
    async get(namespace, name) {
      const stored = await registry.current(namespace, name)
      // Upstream counts the scales of the first API to the group of the scale itself.
      if (stored === undefined) throw notFound(registry.definition, name)
      const shown = await registry.show(stored)
      const missing = mapping.missing?.(shown.object)
      if (missing !== undefined) throw internalError(`the spec replicas field "${missing}" does not exist`)
      return answer({ stored: shown, warnings: [] })
    },
    async update(context, namespace, name, body, options) {
      const { object, warnings } = await decodeScale(registry, body, options)
      const scale = object as Scale
      checkIdentity(definition, scale, namespace, name)
      const { uid, resourceVersion = '' } = scale.metadata
      const result = await registry.change(context, namespace, name, part, options, (old) => {
        checkVersion(old, { uid })
        validate(scale, name)
        checkVersion(old, { resourceVersion })
        return { object: scale, warnings, repeatable: resourceVersion === '' }
      })
      return answer(result)
    },
    async patch(context, namespace, name, patch, options) {
      if (patch.type === 'apply') return apply(context, namespace, name, patch.body, options)
      const result = await registry.change(context, namespace, name, part, options, async (old) => {
        const shown = (await registry.show(old)).object
        const before = scaleOf(mapping, shown)
        const missing = mapping.missing?.(shown)
        const current = missing === undefined ? before : { ...before, spec: { replicas: missingReplicas } }
        const patched = applyPatch(scaleSchema, current, patch)
        const { object, warnings } = await decodePatched(registry.clock, patched, patch, (value) =>
          decodeScale(registry, value, options),
        )
        const scale = object as Scale
        checkIdentity(definition, scale, namespace, name)
        if (scale.spec?.replicas === missingReplicas && isCustom) throw emptyReplicas(missing)
        validate(scale, name)
        const { uid = '', resourceVersion } = scale.metadata
        const { uid: found } = old.object.metadata
        // The scale of a custom resource has no rule about it.
        if (uid !== '' && uid !== found && !isCustom) {
          const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`
          throw conflict(about, name, why)
        }
        checkVersion(old, { resourceVersion })
        return { object: scale, warnings, repeatable: true }
      })
      return answer(result)
    },
  }
}

const typeOf = (kind: ResourceDefinition) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })

const defined = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T

/** Those that upstream has a Scale in. */
const scaleVersions: readonly string[] = ['autoscaling/v1', 'apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1']

const decodeScale = (
  { clock }: ResourceRegistry,
  body: unknown,
  { fieldValidation }: RegistryWriteOptions,
): DecodedBody | Promise<DecodedBody> => {
  const knowsKind = (version: string, kind: string) => kind === 'Scale' && scaleVersions.includes(version)
  return decodeBody(body, { clock, definition, fieldValidation, knowsKind })
}

/** Stands in a patched Scale for the replicas that a custom object does not have (upstream's invalidSpecReplicas). */
const missingReplicas = -(2 ** 31)

const emptyReplicas = (path = ''): ApiError => badRequest(`the spec replicas field "${path}" cannot be empty`)

/** The Scale of an object: it carries the object's identity and version. */
export function scaleOf(mapping: ScaleMapping<KubernetesObject>, object: KubernetesObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = mapping.replicas(object)
  const selector = mapping.selector(object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // Go leaves a zero out.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: mapping.statusReplicas(object), ...(selector === '' ? {} : { selector }) },
  }
}

function isThere({ spec }: Scale): void {
  if (spec === undefined) throw badRequest('the scale has no spec')
}

function isValid(scale: Scale, name: string): void {
  isThere(scale)
  const { replicas = 0 } = scale.spec ?? {}
  const errors = [...compile(scaleSchema).validate(scale)]
  if (replicas < 0) {
    errors.push(invalidField(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
  }
  if (errors.length > 0) throw invalid(scaleKind, name, errors)
}
