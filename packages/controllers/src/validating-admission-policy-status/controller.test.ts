import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicies,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createPolicyTypeChecker } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork((environment) => [createPolicyTypeChecker({ environment })]))
})

const policy = (expression: string, group = 'apps', resource = 'deployments') =>
  ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p', generation: 1 },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: [resource] }],
      },
      validations: [{ expression }],
    },
  }) as unknown as ValidatingAdmissionPolicy

const status = async () => {
  await environment.clock.settle()
  return (await client.get(validatingAdmissionPolicies, { name: 'p' })).status
}

it('tells what does not fit, and that it has looked', async () => {
  await client.create(validatingAdmissionPolicies, policy('object.x'))
  const { observedGeneration, typeChecking } = (await status()) ?? {}
  expect([observedGeneration, typeChecking?.expressionWarnings?.[0]?.fieldRef]).toEqual([
    1,
    'spec.validations[0].expression',
  ])
})

it('tells that all fits', async () => {
  await client.create(validatingAdmissionPolicies, policy('object.spec.replicas > 1'))
  expect(await status()).toEqual({ observedGeneration: 1, typeChecking: {} })
})

it('looks again when the policy changes, and not before', async () => {
  await client.create(validatingAdmissionPolicies, policy('object.x'))
  await status()
  const checked = await client.get(validatingAdmissionPolicies, { name: 'p' })
  const labelled = { ...checked, metadata: { ...checked.metadata, labels: { a: 'b' } } }
  const { metadata } = await client.update(validatingAdmissionPolicies, labelled)
  await status()
  const left = await client.get(validatingAdmissionPolicies, { name: 'p' })
  expect(left.metadata.resourceVersion).toBe(metadata.resourceVersion)
  await client.update(validatingAdmissionPolicies, { ...left, spec: policy('true').spec } as ValidatingAdmissionPolicy)
  expect(await status()).toEqual({ observedGeneration: 2, typeChecking: {} })
})

it('knows the schemas of custom kinds', async () => {
  const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } }
  await client.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as unknown as CustomResourceDefinition)
  await client.create(
    validatingAdmissionPolicies,
    policy('object.size > 1 && object.sise > 1', 'example.com', 'things'),
  )
  expect((await status())?.typeChecking?.expressionWarnings?.[0]?.warning).toContain("undefined field 'sise'")
})
