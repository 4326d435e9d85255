import {
  badRequest,
  compile,
  FieldPath,
  invalid,
  invalidField,
  type KubernetesObject,
  type ResourceDefinition,
  type Scale,
  type ScaleMapping,
  scaleSchema,
} from '@coracle/api'
import { decodeBody } from '../registry/body.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import { applyPatch } from '../registry/patching.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { Subresource, SubresourceResult } from './subresource.ts'

/** What of a Scale's definition decoding and patching need: it is never stored. */
const scaleKind = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: scaleSchema,
  strategy: {},
  namespaced: true,
}

/** `<resource>/scale`: how many there are and should be, as an autoscaling/v1 Scale over whatever the mapping says. */
export function scaleSubresource(registry: ResourceRegistry, mapping: ScaleMapping<KubernetesObject>): Subresource {
  const definition = scaleKind as unknown as ResourceDefinition
  const decode = (body: unknown, name: string, { fieldValidation }: RegistryWriteOptions): Decoded => {
    const { object, warnings } = decodeBody(definition, body, fieldValidation, (_version, kind) => kind === 'Scale')
    validate(object as Scale, name)
    return { scale: object as Scale, warnings }
  }
  const answer = (stored: StoredObject | { readonly object: KubernetesObject }, warnings: readonly string[]) =>
    ({ code: 200, value: scaleOf(mapping, stored.object), warnings }) satisfies SubresourceResult

  return {
    async get(namespace, name) {
      return answer(await registry.get(namespace, name), [])
    },
    async update(context, namespace, name, body, options) {
      const { scale, warnings } = decode(body, name, options)
      checkIdentity(definition, scale, namespace, name)
      const { resourceVersion = '' } = scale.metadata
      const { stored } = await registry.change(context, namespace, name, 'main', options, (old) => {
        registry.checkVersion(old, scale.metadata)
        const object = mapping.withReplicas(old.object, scale.spec?.replicas ?? 0)
        return { object, warnings, repeatable: resourceVersion === '' }
      })
      return answer(stored, warnings)
    },
    async patch(context, namespace, name, patch, options) {
      let warnings: readonly string[] = []
      const { stored } = await registry.change(context, namespace, name, 'main', options, (old) => {
        const decoded = decode(applyPatch(scaleSchema, scaleOf(mapping, old.object), patch), name, options)
        checkIdentity(definition, decoded.scale, namespace, name)
        registry.checkVersion(old, decoded.scale.metadata)
        warnings = decoded.warnings
        return {
          object: mapping.withReplicas(old.object, decoded.scale.spec?.replicas ?? 0),
          warnings,
          repeatable: true,
        }
      })
      return answer(stored, warnings)
    },
  }
}

interface Decoded {
  readonly scale: Scale
  readonly warnings: readonly string[]
}

/** The Scale of an object: it carries the object's identity and version. */
export function scaleOf(mapping: ScaleMapping<KubernetesObject>, object: KubernetesObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: mapping.replicas(object) },
    status: { replicas: mapping.statusReplicas(object), selector: mapping.selector(object) },
  }
}

function validate(scale: Scale, name: string): void {
  if (scale.spec === undefined) throw badRequest('the scale has no spec')
  const { replicas = 0 } = scale.spec
  const errors = [...compile(scaleSchema).validate(scale)]
  if (replicas < 0) {
    errors.push(invalidField(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
  }
  if (errors.length > 0) throw invalid(scaleKind, name, errors)
}
