import { silentLogger } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { type Widget, widget, widgets } from '../testing/resources.ts'
import { deny, type Mutation, mutatingWebhook } from './admission-webhook.ts'

/** What the webhook answers when the object with one gadget is created. */
async function answerOf(mutate: (object: Widget) => Mutation<Widget>): Promise<object> {
  const webhook = mutatingWebhook('/mutate', widgets, ({ object }) => object && mutate(object))
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: '1', operation: 'CREATE', object: structuredClone(widget('a', 1)), userInfo: { username: 'eve' } },
  }
  const { response } = (await webhook.answer(review, {
    signal: new AbortController().signal,
    logger: silentLogger,
  })) as { response: { patch?: string } }
  const { patch, ...rest } = response
  return patch === undefined ? rest : { ...rest, patch: JSON.parse(Buffer.from(patch, 'base64').toString()) }
}

const setGadgets = (object: Widget, gadgets: number): void => {
  ;(object.spec as { gadgets: number }).gadgets = gadgets
}

describe('a mutating webhook', () => {
  const patched = {
    uid: '1',
    allowed: true,
    patchType: 'JSONPatch',
    patch: [{ op: 'replace', path: '/spec/gadgets', value: 2 }],
  }

  it.each<[string, (object: Widget) => Mutation<Widget>, object]>([
    ['is another object', (object) => ({ ...object, spec: { gadgets: 2 } }), patched],
    [
      'is the object it was given, changed',
      (object) => {
        setGadgets(object, 2)
        return object
      },
      patched,
    ],
    ['is nothing, and the object is changed', (object) => void setGadgets(object, 2), patched],
    ['is the object as it was', (object) => object, { uid: '1', allowed: true }],
    ['is nothing', () => undefined, { uid: '1', allowed: true }],
    [
      'is a denial',
      () => deny('no gadgets today'),
      {
        uid: '1',
        allowed: false,
        status: { status: 'Failure', message: 'no gadgets today', code: 403, reason: 'Forbidden' },
      },
    ],
  ])('answers where what it returns %s', async (_what, mutate, answer) => {
    expect(await answerOf(mutate)).toEqual(answer)
  })
})
