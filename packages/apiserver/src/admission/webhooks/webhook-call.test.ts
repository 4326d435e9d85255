import { apiVersionOf, configMaps, type KubernetesObject } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { admin, refusal } from '../../testing/test-core.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { MatchConditions } from '../matching/conditions.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'
import { ask } from './webhook-call.ts'

/** A webhook as another server may have stored it: this one accepts no such configuration. */
const hook = (more: object): ConfiguredWebhook => ({
  id: 'a',
  configuration: 'a',
  webhook: {
    name: 'check.example.com',
    clientConfig: {},
    sideEffects: 'Some',
    admissionReviewVersions: ['v1'],
    ...more,
  },
  criteria: {} as never,
  conditions: new MatchConditions([], virtualEnvironment().clock),
})

const attributes = (dryRun: boolean) => ({ context: admin, dryRun }) as AdmissionAttributes

const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
const resource = { group: '', version: 'v1', resource: 'configmaps' }
const request = {
  ...{ kind, resource, requestKind: kind, requestResource: resource },
  ...{ operation: 'CREATE', userInfo: {}, dryRun: true, options: null },
}

/** Asks a webhook, and tells what it was sent. */
async function asking(more: object, dryRun: boolean): Promise<unknown> {
  let sent: unknown
  const clients = {
    of: async () => ({
      post: async (body: unknown) => {
        sent = body
        const { apiVersion, request: asked } = body as { apiVersion: string; request: { uid: string } }
        return { apiVersion, kind: 'AdmissionReview', response: { uid: asked.uid, allowed: true } }
      },
    }),
  }
  const parts = { clients, environment: virtualEnvironment() } as never
  const object: KubernetesObject = { apiVersion: apiVersionOf(configMaps), kind: 'ConfigMap', metadata: { name: 'a' } }
  const call = { hook: hook(more), version: configMaps, request, objects: { object, oldObject: undefined } }
  await ask(parts, call, attributes(dryRun), false)
  return sent
}

describe('a webhook with side effects', () => {
  it('is not asked in a dry run, which is refused', async () => {
    expect(await refusal(asking({}, true))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "check.example.com" does not support dry run',
    })
  })

  it.each(['None', 'NoneOnDryRun'])('that has none then (%s) is asked', async (sideEffects) => {
    expect(await asking({ sideEffects }, true)).toMatchObject({ kind: 'AdmissionReview' })
  })

  it('is asked otherwise', async () => {
    expect(await asking({}, false)).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: { operation: 'CREATE', object: { metadata: { name: 'a' } }, oldObject: null },
    })
  })
})

it('a webhook that speaks no version of AdmissionReview cannot be asked', async () => {
  await expect(asking({ admissionReviewVersions: ['v9'] }, false)).rejects.toThrow(
    'failed calling webhook "check.example.com": could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
  )
})
