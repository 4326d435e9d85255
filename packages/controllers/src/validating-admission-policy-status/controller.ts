import {
  builtinKinds,
  type CustomResourceDefinition,
  customResourceDefinitions,
  validatingAdmissionPolicies,
} from '@coracle/api'
import type { TypedKind } from '@coracle/api/admission'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import type { ControllerHost } from '../builtin-controllers.ts'
import { isChecked, planTypeChecking } from './plan.ts'

/**
 * Checks the expressions of admission policies against the schemas of what they are about, and tells in their status what does
 * not fit. A policy is checked once for each of its generations, as upstream does it: kinds that come later change nothing.
 */
export function createPolicyTypeChecker({ environment: { clock } }: Pick<ControllerHost, 'environment'>): Controller {
  return controller('validatingadmissionpolicy-status')
    .for(validatingAdmissionPolicies)
    .watches(customResourceDefinitions, () => [])
    .reconcile(async ({ object: policy }, context) => {
      if (policy === undefined || isChecked(policy)) return undefined
      // What knows expressions and custom schemas is loaded with the first policy.
      const [{ policyTypeWarnings }, { customKind }] = await clock.hold(
        Promise.all([import('@coracle/api/admission'), import('@coracle/api/custom')]),
      )
      const customKinds = (definition: CustomResourceDefinition): readonly TypedKind[] => {
        const { schemas = {} } = customKind(definition).custom ?? {}
        const { group, names } = definition.spec
        return definition.spec.versions.flatMap(({ name: version, served }) => {
          const schema = schemas[`${group}/${version}`]
          return served && schema !== undefined
            ? [{ group, version, plural: names.plural, kind: names.kind, schema }]
            : []
        })
      }
      const warnings = () =>
        policyTypeWarnings(policy.spec ?? {}, [
          ...builtinKinds.flatMap((each) => [each, ...each.versions]),
          ...context.informer(customResourceDefinitions).list().flatMap(customKinds),
        ])
      return performPlan(context, policy, planTypeChecking(policy, warnings))
    })
}
