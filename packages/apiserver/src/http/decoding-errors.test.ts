/** What upstream 1.36.2 answered to values of wrong types, with the names of its types. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const namespace = '/api/v1/namespaces/default'
const pod = (spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec })

it('name the type of a text, and the struct within which a field stands', async () => {
  const create = async (spec: object) =>
    (await server.call(`${namespace}/pods`, { method: 'POST', body: pod(spec) })).json.message
  expect(await create({ restartPolicy: 5 })).toBe(
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
  )
  expect(await create({ volumes: [{ hostPath: { type: 5 } }] })).toBe(
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.type of type v1.HostPathType',
  )
})

it('name it in what is said of a patch, of a subresource and of options', async () => {
  await server.call(`${namespace}/serviceaccounts`, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } },
  })
  const path = `${namespace}/configmaps/a`
  await server.call(`${namespace}/configmaps`, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  })
  const patched = await server.call(path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { uid: 5 } },
  })
  expect(patched.json.message).toContain(
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID',
  )
  const deleted = await server.call(path, { method: 'DELETE', body: { preconditions: { uid: 5 } } })
  expect(deleted.json.message).toBe(
    'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
  )
  const token = await server.call(`${namespace}/serviceaccounts/a/token`, {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef: { uid: 5 } } },
  })
  expect(token.json.message).toContain(
    'json: cannot unmarshal number into Go struct field BoundObjectReference.spec.boundObjectRef.uid of type types.UID',
  )
})

it.each([
  [{ spec: { restartPolicy: 5 } }, 'cannot convert int64 to v1.RestartPolicy'],
  [{ spec: { restartPolicy: ['a'] } }, 'unrecognized type: string'],
  [{ spec: { overhead: 'a' } }, 'cannot restore map from string'],
  [{ spec: { hostname: 5 } }, 'cannot convert int64 to string'],
  [{ metadata: 'a' }, 'cannot restore struct from: string'],
])('are told of strategic patches in the words of a conversion: %j', async (body, problem) => {
  await server.call(`${namespace}/pods`, { method: 'POST', body: pod({ containers: [{ name: 'a', image: 'b' }] }) })
  const { json } = await server.call(`${namespace}/pods/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body,
  })
  expect(json.message).toMatch(new RegExp(`: ${problem}$`))
})

describe('a number that is no integer as it is written', () => {
  const json = { 'content-type': 'application/json' }
  const post = (body: string) => server.call(`${namespace}/pods`, { method: 'POST', headers: json, body })
  const spec = (fields: string) =>
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"spec":{"containers":[{"name":"a","image":"b"}],${fields}}}`

  it.each(['1.0', '1e2', '99999999999999999999'])('is refused: %s', async (number) => {
    const { code, json } = await post(spec(`"terminationGracePeriodSeconds":${number}`))
    expect([code, json.message]).toEqual([
      400,
      `Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number ${number} into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64`,
    ])
  })

  it('is refused in options, and beside a text of half a character', async () => {
    const options = { method: 'DELETE', headers: json, body: '{"gracePeriodSeconds":1.0}' }
    expect((await server.call(`${namespace}/configmaps/a`, options)).json.message).toBe(
      'json: cannot unmarshal number 1.0 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    )
    const { json: status } = await post(spec('"hostname":"\\ud800","priority":1.0'))
    expect(status.message).toContain(
      'cannot unmarshal number 1.0 into Go struct field PodSpec.spec.priority of type int32',
    )
  })

  const change = (type: 'merge' | 'json', body: string) =>
    server.call(`${namespace}/pods/a?dryRun=All`, {
      method: 'PATCH',
      headers: { 'content-type': `application/${type}-patch+json` },
      body,
    })

  it.each([
    ['merge', '{"spec":{"activeDeadlineSeconds":5.0}}'],
    ['json', '[{"op":"add","path":"/spec/activeDeadlineSeconds","value":5.0}]'],
    ['json', '[{"op":"add","path":"/spec","value":{"activeDeadlineSeconds":5.0}}]'],
  ] as const)('is refused in a %s patch, and shown as it is written: %s', async (type, body) => {
    const { code, json } = await change(type, body)
    expect([code, json.details.causes]).toEqual([
      422,
      [expect.objectContaining({ field: 'patch', reason: 'FieldValueInvalid' })],
    ])
    expect(json.message).toMatch(
      /"activeDeadlineSeconds\\*":5\.0.*json: cannot unmarshal number 5\.0 into Go struct field PodSpec\.spec\.activeDeadlineSeconds of type int64$/,
    )
  })

  it('is not what a JSON patch tests an integer for', async () => {
    const { code, json } = await change(
      'json',
      '[{"op":"test","path":"/spec/terminationGracePeriodSeconds","value":30.0}]',
    )
    expect([code, json.details.causes[0].message]).toEqual([422, expect.stringContaining('test failed')])
  })

  it('is an amount in a patch, as it is written', async () => {
    const quotas = `${namespace}/resourcequotas`
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a' }, spec: { hard: { cpu: '1' } } }
    await server.call(quotas, { method: 'POST', body: quota })
    const patched = await server.call(`${quotas}/a`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"spec":{"hard":{"pods":1e3,"cpu":2.50}}}',
    })
    expect(patched.json.spec.hard).toEqual({ cpu: '2500m', pods: '1e3' })
  })

  it('is one in YAML, and in a patch that upstream converts', async () => {
    const yaml =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: whole}\nspec:\n  activeDeadlineSeconds: 5.0\n  containers: [{name: a, image: b}]\n'
    const headers = { 'content-type': 'application/yaml' }
    const created = await server.call(`${namespace}/pods?dryRun=All`, { method: 'POST', headers, body: yaml })
    expect(created.json.spec).toMatchObject({ activeDeadlineSeconds: 5 })
    const patched = await server.call(`${namespace}/pods/a?dryRun=All`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: '{"spec":{"activeDeadlineSeconds":1e2}}',
    })
    expect(patched.json.spec.activeDeadlineSeconds).toBe(100)
  })
})

it('numbers are kept as they are written where a kind takes any JSON', async () => {
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'
  const body = '{"metadata":{"name":"a"},"revision":1,"data":{"count":9007199254740993}}'
  const headers = { 'content-type': 'application/json' }
  const created = await server.call(revisions, { method: 'POST', headers, body })
  expect(created.text).toContain('"data":{"count":9007199254740993}')
  const patched = await server.call(`${revisions}/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"revision":2}',
  })
  expect(patched.text).toContain('"data":{"count":9007199254740993}')
})

it('attributes of devices are the integers of 64 bits that they are, in JSON, protobuf and patches', async () => {
  const slices = '/apis/resource.k8s.io/v1/resourceslices'
  const exact = '9223372036854775807'
  const device = `{"name":"a","attributes":{"serial":{"int":${exact}},"offset":{"int":-9007199254740993},"small":{"int":7}}}`
  const body = `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[${device}]}}`
  const headers = { 'content-type': 'application/json' }
  const created = await server.call(slices, { method: 'POST', headers, body })
  expect(created.text).toContain(`"devices":[${device}]`)
  const protobuf = 'application/vnd.kubernetes.protobuf'
  const { bytes: slice } = await server.call(`${slices}/a`, { headers: { accept: protobuf } })
  const replaced = await server.call(`${slices}/a`, {
    method: 'PUT',
    headers: { 'content-type': protobuf },
    body: slice,
  })
  expect(replaced.text).toContain(`"devices":[${device}]`)
  const patched = await server.call(`${slices}/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: `{"metadata":{"labels":{"a":"b"}},"spec":{"devices":[${device.replace(exact, '-9223372036854775808')}]}}`,
  })
  expect(patched.text).toContain(`"devices":[${device.replace(exact, '-9223372036854775808')}]`)
})

describe('numbers of 64 bits that upstream bounds by nothing else are kept as they are written', () => {
  const most = '9223372036854775807'
  const odd = '9007199254740993'
  const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}],"restartPolicy":"Never"}}`
  const request = `{"name":"a","exactly":{"deviceClassName":"a","count":${odd},"tolerations":[{"operator":"Exists","effect":"NoExecute","tolerationSeconds":${most}}]}}`
  it.each([
    [
      'of a pod',
      `${namespace}/pods`,
      `{"spec":{"terminationGracePeriodSeconds":${most},"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":${odd}}],"containers":[{"name":"a","image":"a","lifecycle":{"preStop":{"sleep":{"seconds":${odd}}}},"livenessProbe":{"tcpSocket":{"port":1},"terminationGracePeriodSeconds":${most}}}]}}`,
      [
        `"terminationGracePeriodSeconds":${most},`,
        `"tolerationSeconds":${odd}}`,
        `"seconds":${odd}}`,
        `"terminationGracePeriodSeconds":${most}}`,
      ],
    ],
    [
      'of a job',
      '/apis/batch/v1/namespaces/default/jobs',
      `{"spec":{"activeDeadlineSeconds":${most},${template}}}`,
      [`"activeDeadlineSeconds":${most}`],
    ],
    [
      'of a cron job',
      '/apis/batch/v1/namespaces/default/cronjobs',
      `{"spec":{"schedule":"@daily","startingDeadlineSeconds":${most},"jobTemplate":{"spec":{"activeDeadlineSeconds":${odd},${template}}}}}`,
      [`"startingDeadlineSeconds":${most}`, `"activeDeadlineSeconds":${odd}`],
    ],
    [
      'of a revision',
      '/apis/apps/v1/namespaces/default/controllerrevisions',
      `{"data":{"a":1},"revision":${odd}}`,
      [`"revision":${odd}`],
    ],
    [
      'of a pool of devices',
      '/apis/resource.k8s.io/v1/resourceslices',
      `{"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","generation":${most},"resourceSliceCount":${odd}}}}`,
      [`"generation":${most}`, `"resourceSliceCount":${odd}`],
    ],
    [
      'of a claim',
      '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
      `{"spec":{"devices":{"requests":[${request}]}}}`,
      [`"count":${odd}`, `"tolerationSeconds":${most}`],
    ],
    [
      'of a schema',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      `{"spec":{"group":"big.example.com","scope":"Cluster","names":{"plural":"bigs","kind":"Big"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string","maxLength":${most}}}}}}]}}`,
      [`"maxLength":${most}`],
    ],
  ])('%s', async (_, path, text, kept) => {
    const name = path.endsWith('customresourcedefinitions') ? 'bigs.big.example.com' : 'big'
    const body = text.replace('{', `{"metadata":{"name":"${name}"},`)
    const json = { 'content-type': 'application/json' }
    const created = await server.call(path, { method: 'POST', headers: json, body })
    expect(created.code, created.text).toBe(201)
    for (const each of kept) expect(created.text).toContain(each)
    const protobuf = 'application/vnd.kubernetes.protobuf'
    const { bytes } = await server.call(`${path}/${name}`, { headers: { accept: protobuf } })
    const headers = { 'content-type': protobuf }
    const answers = [
      await server.call(`${path}/${name}`, { method: 'PUT', headers, body: bytes }),
      await server.call(`${path}/${name}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: `{"metadata":{"labels":{"a":"b"}}}`,
      }),
      await server.call(`${path}/${name}?fieldManager=a&force=true`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: `{"apiVersion":"${created.json.apiVersion}","kind":"${created.json.kind}",${body.slice(1)}`,
      }),
    ]
    for (const { text, code } of answers) {
      expect(code, text).toBe(200)
      for (const each of kept) expect(text).toContain(each)
    }
  })
})

it('what is no UTF-8 in a text is replaced, as in Go', async () => {
  const configMap = (data: string) => Buffer.from(`{"metadata":{"name":"latin"},"data":{"a":"${data}"}}`, 'latin1')
  const headers = { 'content-type': 'application/json' }
  const created = await server.call(`${namespace}/configmaps`, { method: 'POST', headers, body: configMap('caf\xe9') })
  expect(created.json.data).toEqual({ a: 'caf\ufffd' })
  const patched = await server.call(`${namespace}/configmaps/latin`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: configMap('th\xe9'),
  })
  expect(patched.json.data).toEqual({ a: 'th\ufffd' })
})
