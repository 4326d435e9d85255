import { configMaps, forbidden } from '@coracle/api'
import { expect, it } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { configMap } from '../testing/test-core.ts'
import { TestServer } from './testing/test-server.ts'

it('admission warns the client once per text, whether the write is refused or not', async () => {
  const warning: AdmissionPlugin = {
    name: 'warning',
    mutate({ context, definition }, object) {
      if (definition.plural !== configMaps.plural) return object
      context.warn?.('think  twice')
      return object
    },
    validate({ context, definition, name }) {
      if (definition.plural !== configMaps.plural) return
      context.warn?.('think  twice')
      if (name === 'bad') throw forbidden(definition, name, 'refused')
    },
  }
  const server = await TestServer.start({ admission: [warning] })
  for (const [name, code] of [
    ['good', 201],
    ['bad', 403],
  ] as const) {
    const answer = await server.call('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(configMap(name)),
    })
    expect(answer.code).toBe(code)
    expect(answer.headers.warning).toBe('299 - "think  twice"')
  }
  await server.close()
})
