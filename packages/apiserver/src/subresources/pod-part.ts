import {
  addErrors,
  compile,
  type FieldError,
  invalid,
  type KubernetesObject,
  type Pod,
  validateEphemeralContainersUpdate,
  validatePodResize,
  withEphemeralContainers,
  withResizedContainers,
} from '@coracle/api'
import { readConfiguration } from '../registry/apply-configuration.ts'
import { decodeBody } from '../registry/body.ts'
import type { ChangedPart } from '../registry/changed-part.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import { applyPatch, decodePatched } from '../registry/patching.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { RegistryWriteOptions, Stored } from '../registry-contract.ts'
import type { Subresource, SubresourceResult } from './subresource.ts'

/** `pods/ephemeralcontainers`: the pod, of which only containers to look around with may be added. */
export const ephemeralContainersSubresource = (registry: ResourceRegistry): Subresource =>
  podPart(registry, 'ephemeralcontainers', withEphemeralContainers, validateEphemeralContainersUpdate)

/** `pods/resize`: the pod, of which only what its containers have of CPU and memory may be changed. */
export const resizeSubresource = (registry: ResourceRegistry): Subresource =>
  podPart(registry, 'resize', withResizedContainers, validatePodResize)

/** The pod as a subresource: of what is written only a part counts, by rules of its own. */
function podPart(
  registry: ResourceRegistry,
  subresource: string,
  withPart: (pod: Pod, written: Pod) => Pod,
  validate: (pod: Pod, old: Pod) => readonly FieldError[],
): Subresource {
  const { definition, kind } = registry
  const part: ChangedPart = {
    subresource,
    rules: 'own',
    makesGenerations: true,
    view: {
      kind,
      of: (pod) => pod,
      apply: (pod, written) => {
        const changed = withPart(pod as Pod, written as Pod)
        const errors = [...compile(kind.schema).validate(changed)]
        addErrors(errors, validate(changed, pod as Pod))
        if (errors.length > 0) throw invalid(kind, pod.metadata.name ?? '', errors)
        return changed
      },
    },
  }
  const decode = (body: unknown, options: RegistryWriteOptions) =>
    decodeBody(definition, body, options.fieldValidation, () => false)
  const answer = (stored: Stored, warnings: readonly string[]): SubresourceResult => ({
    code: 200,
    value: stored.object,
    stored,
    warnings,
  })
  const withOnly = (old: KubernetesObject, written: KubernetesObject): KubernetesObject =>
    withPart(old as Pod, written as Pod)

  return {
    async get(namespace, name) {
      return answer(await registry.get(namespace, name), [])
    },
    async update(context, namespace, name, body, options) {
      const { object, warnings } = decode(body, options)
      checkIdentity(definition, object, namespace, name)
      const { resourceVersion = '' } = object.metadata
      const { stored } = await registry.change(context, namespace, name, part, options, (old) => {
        registry.checkVersion(old, object.metadata)
        return { object: withOnly(old.object, object), warnings, repeatable: resourceVersion === '' }
      })
      return answer(stored, warnings)
    },
    async patch(context, namespace, name, patch, options) {
      if (patch.type === 'apply') {
        const configuration = readConfiguration(definition, patch.body, options)
        const { stored } = await registry.apply(context, namespace, name, part, configuration, options)
        return answer(stored, configuration.warnings)
      }
      let warnings: readonly string[] = []
      const { stored } = await registry.change(context, namespace, name, part, options, async (old) => {
        const patched = applyPatch(definition.schema, old.object, patch)
        const decoded = await decodePatched(patched, (value) => decode(value, options))
        checkIdentity(definition, decoded.object, namespace, name)
        registry.checkVersion(old, { resourceVersion: decoded.object.metadata.resourceVersion })
        warnings = decoded.warnings
        return { object: withOnly(old.object, decoded.object), warnings, repeatable: true }
      })
      return answer(stored, warnings)
    },
  }
}
