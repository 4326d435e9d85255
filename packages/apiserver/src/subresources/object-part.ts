import { addErrors, compile, type FieldError, type KubernetesObject } from '@coracle/api'
import { readConfiguration } from '../registry/apply-configuration.ts'
import { decodeBody } from '../registry/body.ts'
import type { ChangedPart } from '../registry/changed-part.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import { applyPatch, decodePatched } from '../registry/patching.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { refusal } from '../registry/validation.ts'
import type { RegistryWriteOptions, Stored } from '../registry-contract.ts'
import type { Subresource, SubresourceResult } from './subresource.ts'

/** Which part of an object a subresource is for, and what holds for it. */
export interface PartRules<T extends KubernetesObject> {
  readonly subresource: string
  /** Whether the part belongs to the desired state, so that a change of it is a new generation. */
  readonly makesGenerations: boolean
  /** The object with the part as it was written. */
  withPart(object: T, written: T): T
  /** What is wrong with a change, beyond the schema. */
  validate(changed: T, old: T): readonly FieldError[]
}

/** The object as a subresource: of what is written only a part counts, by rules of its own. */
export function objectPart<T extends KubernetesObject>(registry: ResourceRegistry, rules: PartRules<T>): Subresource {
  const { definition, kind } = registry
  const refuse = async (object: KubernetesObject, errors: readonly FieldError[]): Promise<never> => {
    throw await refusal(registry.clock, kind, object, errors)
  }
  const { subresource, makesGenerations } = rules
  const part: ChangedPart = {
    subresource,
    rules: 'own',
    ...(makesGenerations ? { makesGenerations } : {}),
    view: {
      kind,
      of: (object) => object,
      beforeAdmission: (object, written) => rules.withPart(object as T, written as T),
      apply: (object, written) => {
        const changed = rules.withPart(object as T, written as T)
        const errors = [...compile(kind.schema).validate(changed)]
        addErrors(errors, rules.validate(changed, object as T))
        return errors.length === 0 ? changed : refuse(object, errors)
      },
    },
  }
  const decode = (body: unknown, options: RegistryWriteOptions) =>
    decodeBody(body, { clock: registry.clock, definition, fieldValidation: options.fieldValidation })
  const answer = (stored: Stored, warnings: readonly string[]): SubresourceResult => ({
    code: 200,
    value: stored.object,
    stored,
    warnings,
  })
  const withOnly = (old: KubernetesObject, written: KubernetesObject): KubernetesObject =>
    rules.withPart(old as T, written as T)

  return {
    async get(namespace, name) {
      return answer(await registry.get(namespace, name), [])
    },
    async update(context, namespace, name, body, options) {
      const { object, warnings } = await decode(body, options)
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
        const decoded = await decodePatched(registry.clock, patched, patch, (value) => decode(value, options))
        checkIdentity(definition, decoded.object, namespace, name)
        registry.checkVersion(old, { resourceVersion: decoded.object.metadata.resourceVersion })
        warnings = decoded.warnings
        return { object: withOnly(old.object, decoded.object), warnings, repeatable: true }
      })
      return answer(stored, warnings)
    },
  }
}
