import {
  configMaps,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '@coracle/api'
import { realClock, virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished, vi } from 'vitest'
import { configMap, startTestCore } from '../../testing/test-core.ts'

it.each([{}, { matchConditions: [{ name: 'all', expression: 'true' }] }])(
  'the first request that a policy judges takes no virtual time (%j)',
  async (more) => {
    const environment = virtualEnvironment()
    const { client } = await startTestCore({ environment })
    await client.create<ValidatingAdmissionPolicy>(validatingAdmissionPolicies, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'named' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [{ expression: "object.metadata.name != 'x'" }],
        ...more,
      },
    })
    await client.create<ValidatingAdmissionPolicyBinding>(validatingAdmissionPolicyBindings, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'named' },
      spec: { policyName: 'named', validationActions: ['Deny'] },
    })
    await environment.clock.settle()
    // Loaded anew, and slowly.
    vi.resetModules()
    vi.doMock('@coracle/api/admission', async (loadOriginal) => {
      for (let turn = 0; turn < 1000; turn += 1) await new Promise<void>((resolve) => realClock.defer(resolve))
      return loadOriginal()
    })
    onTestFinished(() => void vi.doUnmock('@coracle/api/admission'))
    let isCreated = false
    void client.create(configMaps, configMap('a')).then(() => {
      isCreated = true
    })
    await environment.clock.advance('1ms')
    expect(isCreated).toBe(true)
  },
)
