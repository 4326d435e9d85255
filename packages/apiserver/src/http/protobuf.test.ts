import {
  bindingSchema,
  builtinResources,
  compile,
  configMapSchema,
  deleteOptionsSchema,
  eventSchema,
  type Field,
  jsonSchemaProps,
  leaseSchema,
  nodeSchema,
  type ObjectSchema,
  omittedZero,
  podSchema,
  replicationControllerSchema,
  resolveSchema,
  type Schema,
  scaleSchema,
  secretSchema,
} from '@coracle/api'
import { arbitraryOf } from '@coracle/api/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseObject } from './body/parse-object.ts'
import { hasProtobufFields } from './protobuf.ts'
import { decodeProtobuf, openProtobuf } from './protobuf-decode.ts'
import { encodeProtobuf } from './protobuf-encode.ts'
import { type ProtobufField, protobufDefinitions, protobufFieldsOf } from './protobuf-messages.ts'
import { ProtobufError } from './protobuf-wire.ts'
import { bytesField, enveloped, integerField, messageOf, varint } from './testing/encode-protobuf.ts'

/** Every kind that a body may be of. */
const kinds: readonly ObjectSchema[] = [
  ...builtinResources.map(({ schema }) => schema),
  bindingSchema,
  scaleSchema,
  deleteOptionsSchema,
]

const fromHex = (...hex: readonly string[]): Buffer => Buffer.from(hex.join('').replaceAll(' ', ''), 'hex')

describe('openProtobuf', () => {
  it('finds the message in what kubectl 1.35 sends for `create cm c1 --from-literal=a=b`', () => {
    const body = fromHex(
      '6b3873000a0f0a0276311209436f6e6669674d6170121c0a120a02633112001a0022002a00320038004200',
      '12060a01611201621a002200',
    )
    const { raw, ...type } = openProtobuf(body)
    expect(type).toEqual({ apiVersion: 'v1', kind: 'ConfigMap' })
    // Empty strings, zeros and a zero time are there for what is not set.
    expect(decodeProtobuf(configMapSchema, raw)).toEqual({ metadata: { name: 'c1' }, data: { a: 'b' } })
  })

  it.each([
    ['nothing', Buffer.alloc(0), 'empty data'],
    ['no mark', Buffer.from('{"kind":"ConfigMap"}'), 'does not appear to be a protobuf message'],
    ['a mark alone', Buffer.from('k8s\0'), 'empty body'],
    ['half an envelope', enveloped('v1', 'ConfigMap', Buffer.alloc(9)).subarray(0, 25), 'unexpected EOF'],
  ])('refuses %s', (_, body, why) => {
    expect(() => openProtobuf(body)).toThrow(why)
  })
})

describe('decodeProtobuf', () => {
  it('reads the pod that kubectl 1.35 sends for `debug node/n1 --image=busybox --profile=sysadmin`', () => {
    const body = fromHex(
      '6b3873000a090a0276311203506f641282020a550a166e6f64652d64656275676765722d6e312d7070356e7412001a0022002a0032003800',
      '42005a2d0a1c6170702e6b756265726e657465732e696f2f6d616e616765642d6279120d6b75626563746c2d64656275671293010a120a09',
      '686f73742d726f6f7412050a030a012f12490a086465627567676572120762757379626f782a0042004a180a09686f73742d726f6f741000',
      '1a052f686f7374220032006a0072007a021001800100880100900100a2010446696c651a054e65766572320042004a0052026e3158016001',
      '68018201008a01009a0100b2010e0a0012064578697374731a002200c201001a130a001a0022002a0032004a005a0072008801001a002200',
    )
    const { kind, raw } = openProtobuf(body)
    expect(kind).toBe('Pod')
    expect(decodeProtobuf(podSchema, raw)).toEqual({
      metadata: { name: 'node-debugger-n1-pp5nt', labels: { 'app.kubernetes.io/managed-by': 'kubectl-debug' } },
      spec: {
        volumes: [{ name: 'host-root', hostPath: { path: '/' } }],
        containers: [
          {
            name: 'debugger',
            image: 'busybox',
            resources: {},
            volumeMounts: [{ name: 'host-root', mountPath: '/host' }],
            securityContext: { privileged: true },
            terminationMessagePolicy: 'File',
          },
        ],
        restartPolicy: 'Never',
        nodeName: 'n1',
        hostNetwork: true,
        hostPID: true,
        hostIPC: true,
        tolerations: [{ operator: 'Exists' }],
      },
      status: {},
    })
  })

  // By hand from the wire format and upstream's generated.proto.
  it('reads embedded structs, quantities, ports by name, chosen zeros and numbers above 15', () => {
    const raw = fromHex(
      '0a 03 0a 01 70', // metadata: name "p"
      '12 85 01', // spec
      '0a 10 0a 01 76 12 0b 12 09 0a 00 12 05 0a 03 31 47 69', // volumes: name, source { emptyDir { "", sizeLimit } }
      '12 53', // containers
      '0a 01 63', // name "c"
      '32 08 0a 00 10 00 18 50 22 00', // ports: hostPort 0, containerPort 80
      '3a 11 0a 01 45 12 00 1a 0a 1a 08 0a 03 0a 01 6d 12 01 6b', // env: valueFrom { configMapKeyRef { {"m"}, "k" } }
      '42 0f 0a 0d 0a 03 63 70 75 12 06 0a 04 31 30 30 6d', // resources: limits { cpu: 100m }
      '52 17 0a 11 12 0f 0a 01 2f 12 0a 08 01 10 00 1a 04 68 74 74 70 10 03 18 00', // livenessProbe: handler { httpGet }
      '7a 04 20 00 28 00', // securityContext: runAsUser 0, runAsNonRoot false
      '80 01 00', // stdin false
      '20 00', // terminationGracePeriodSeconds 0
      '58 00', // hostNetwork false
      '72 0d 20 05 20 ff ff ff ff ff ff ff ff ff 01', // securityContext: supplementalGroups 5, -1
      '92 02 08 0a 03 0a 01 65 12 01 63', // ephemeralContainers: common { "e" }, targetContainerName
    )
    expect(decodeProtobuf(podSchema, raw)).toEqual({
      metadata: { name: 'p' },
      spec: {
        volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
        containers: [
          {
            name: 'c',
            ports: [{ containerPort: 80 }],
            env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }],
            resources: { limits: { cpu: '100m' } },
            livenessProbe: { httpGet: { path: '/', port: 'http' }, initialDelaySeconds: 3 },
            securityContext: { runAsUser: 0, runAsNonRoot: false },
          },
        ],
        terminationGracePeriodSeconds: 0,
        securityContext: { supplementalGroups: [5, -1] },
        ephemeralContainers: [{ name: 'e', targetContainerName: 'c' }],
      },
    })
  })

  it('reads the times, owners and counts of leases and events', () => {
    const time = '08 80 f2 d6 ca 06 10 80 94 ef 3a' // 2026-01-01T00:00:00.123456Z
    const lease = fromHex(
      '0a 20 0a 01 6c', // metadata: name
      '6a 11 0a 01 50 1a 01 70 22 01 75 2a 02 76 31 30 01 38 00', // owner: a controller that does not block
      '72 02 66 31 72 02 66 32 42 00', // finalizers, no creation time
      '12 1e 0a 02 6d 65 10 0f', // spec: holder, duration
      `22 0b ${time}`, // renewTime
      '28 ff ff ff ff ff ff ff ff ff 01', // leaseTransitions -1
    )
    expect(decodeProtobuf(leaseSchema, lease)).toEqual({
      metadata: {
        name: 'l',
        ownerReferences: [
          { kind: 'P', name: 'p', uid: 'u', apiVersion: 'v1', controller: true, blockOwnerDeletion: false },
        ],
        finalizers: ['f1', 'f2'],
      },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-01T00:00:00.123456Z',
        leaseTransitions: -1,
      },
    })
    const event = fromHex(
      '1a 01 52 22 01 4d 2a 05 0a 01 63 12 00', // reason, message, source
      `32 0b ${time} 3a 00 40 02 4a 06 4e 6f 72 6d 61 6c`, // firstTimestamp, lastTimestamp, count, type
      '52 00 72 00 7a 00', // no eventTime, reporting nobody
    )
    expect(decodeProtobuf(eventSchema, event)).toEqual({
      reason: 'R',
      message: 'M',
      source: { component: 'c' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      count: 2,
      type: 'Normal',
      reportingComponent: '',
      reportingInstance: '',
    })
  })

  it('reads a node and the status of a replication controller', () => {
    const node = fromHex(
      '12 0f 0a 00 20 01 2a 09 0a 01 6b 12 00 1a 02 4e 6f', // spec: podCIDR "", unschedulable, taints
      '1a 15 22 0b 0a 01 52 12 01 54 1a 03 08 80 08', // status: conditions: type, status, lastHeartbeatTime
      '32 06 0a 04 08 8a d0 00', // daemonEndpoints: kubeletEndpoint: Port, in a longer form than need be
    )
    expect(decodeProtobuf(nodeSchema, node)).toEqual({
      spec: { unschedulable: true, taints: [{ key: 'k', effect: 'No' }] },
      status: {
        conditions: [{ type: 'R', status: 'T', lastHeartbeatTime: '1970-01-01T00:17:04Z' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    })
    // replicas 0 is required; readyReplicas 4: 0 is as good as none.
    expect(decodeProtobuf(replicationControllerSchema, fromHex('1a 08 08 00 10 02 18 00 20 00'))).toEqual({
      status: { replicas: 0, fullyLabeledReplicas: 2 },
    })
  })

  it('reads what was chosen and what was not in delete options and scales', () => {
    // gracePeriodSeconds 0, propagationPolicy, dryRun; a field 99 of the future.
    const options = fromHex('08 00 22 06 4f 72 70 68 61 6e 2a 03 41 6c 6c 9a 06 01 78')
    expect(decodeProtobuf(deleteOptionsSchema, options)).toEqual({
      gracePeriodSeconds: 0,
      propagationPolicy: 'Orphan',
      dryRun: ['All'],
    })
    expect(decodeProtobuf(scaleSchema, fromHex('12 02 08 00 1a 04 08 00 12 00'))).toEqual({
      spec: {},
      status: { replicas: 0 },
    })
  })

  it('reads bytes as base64, and keeps empty values of maps', () => {
    const entry = (key: string, value: string) => bytesField(2, messageOf(bytesField(1, key), bytesField(2, value)))
    const entries = [
      entry('a', 'plain'),
      entry('empty', ''),
      entry('__proto__', 'x'),
      bytesField(2, bytesField(1, 'b')),
    ]
    const { data, type } = decodeProtobuf(secretSchema, messageOf(...entries, bytesField(3, 'Opaque')))
    expect(type).toBe('Opaque')
    expect(Object.entries(data as object)).toEqual([
      ['a', Buffer.from('plain').toString('base64')],
      ['empty', ''],
      ['__proto__', Buffer.from('x').toString('base64')],
      ['b', ''],
    ])
  })

  it('takes the parts of a message for one, and the last of a value that is there twice', () => {
    const part = (...fields: readonly Buffer[]) => bytesField(1, messageOf(...fields))
    const raw = messageOf(part(bytesField(1, 'old'), bytesField(2, 'g')), part(bytesField(1, 'new'), bytesField(2, '')))
    expect(decodeProtobuf(configMapSchema, raw)).toEqual({ metadata: { name: 'new' } })
  })

  it('reads integers that are packed', () => {
    const groups = bytesField(4, messageOf(varint(1), varint(300), varint(0)))
    const raw = bytesField(2, bytesField(14, groups))
    expect(decodeProtobuf(podSchema, raw)).toEqual({ spec: { securityContext: { supplementalGroups: [1, 300, 0] } } })
  })

  it('reads what may be a schema or something simpler', () => {
    const text = bytesField(5, 'string')
    const raw = messageOf(
      bytesField(8, bytesField(1, '{"a":1}')),
      bytesField(24, bytesField(1, text)),
      bytesField(30, integerField(1, 1)),
      bytesField(32, messageOf(bytesField(1, 'a'), bytesField(2, bytesField(2, 'b')))),
      bytesField(33, messageOf(integerField(1, 1), bytesField(2, text))),
    )
    const schema = {
      default: { a: 1 },
      items: { type: 'string' },
      additionalProperties: true,
      dependencies: { a: ['b'] },
      additionalItems: { type: 'string' },
    }
    expect(decodeProtobuf(jsonSchemaProps as ObjectSchema, raw)).toEqual(schema)
    expect(
      decodeProtobuf(jsonSchemaProps as ObjectSchema, encodeProtobuf(jsonSchemaProps as ObjectSchema, schema)),
    ).toEqual(schema)
    const many = bytesField(24, messageOf(bytesField(2, text), bytesField(2, text)))
    const list = [{ type: 'string' }, { type: 'string' }]
    expect(decodeProtobuf(jsonSchemaProps as ObjectSchema, many)).toEqual({ items: list })
    const other = { items: list, additionalProperties: { type: 'string' }, additionalItems: false }
    expect(
      decodeProtobuf(jsonSchemaProps as ObjectSchema, encodeProtobuf(jsonSchemaProps as ObjectSchema, other)),
    ).toEqual(other)
  })

  it('replaces half characters, which clients make that cut messages', () => {
    const cut = Buffer.from('größer').subarray(0, 3)
    expect(decodeProtobuf(eventSchema, bytesField(4, cut))).toEqual({ message: 'gr\u{fffd}' })
  })

  it('takes the largest integer of 64 bits as the nearest number that JSON takes, too', () => {
    const raw = Buffer.concat([varint(1 * 8), fromHex('ff ff ff ff ff ff ff ff 7f')])
    const decoded = decodeProtobuf(deleteOptionsSchema, raw)
    expect(decoded).toEqual({ gracePeriodSeconds: 2 ** 63 - 1024 })
    expect(compile(deleteOptionsSchema).decode(decoded).value).toEqual(decoded)
  })

  it('passes over fields it does not know, of every wire type and in groups', () => {
    const raw = messageOf(
      ...[bytesField(99, 'x'), integerField(98, -1)],
      ...[varint(97 * 8 + 1), Buffer.alloc(8), varint(96 * 8 + 5), Buffer.alloc(4)],
      // A group that holds a group and a text.
      ...[varint(95 * 8 + 3), varint(94 * 8 + 3), bytesField(1, 'x'), varint(94 * 8 + 4), varint(95 * 8 + 4)],
      bytesField(4, 'Orphan'),
    )
    expect(decodeProtobuf(deleteOptionsSchema, raw)).toEqual({ propagationPolicy: 'Orphan' })
  })

  it.each([
    ['half a message', bytesField(1, 'metadata').subarray(0, 4), 'unexpected EOF'],
    ['a length beyond the message that holds it', fromHex('0a 02 0a 05 61 61 61 61 61'), 'unexpected EOF'],
    ['a length that is negative', messageOf(fromHex('0a'), varint(-1)), 'proto: negative length found'],
    ['an integer of eleven bytes', messageOf(fromHex('20'), Buffer.alloc(10, 0xff), fromHex('01')), 'integer overflow'],
    ['an integer for a message', integerField(1, 5), 'proto: wrong wireType = 0 for field 1'],
    ['a text for a boolean', bytesField(4, 'true'), 'proto: wrong wireType = 2 for field 4'],
    ['an unknown wire type', varint(9 * 8 + 7), 'proto: illegal wireType 7'],
    ['the number 0', varint(2), 'proto: illegal tag 0 (wire type 2)'],
    ['the end of a group that did not begin', varint(9 * 8 + 4), 'proto: wiretype end group for non-group'],
    ['a group without an end', varint(9 * 8 + 3), 'unexpected EOF'],
    ['a group for a message', messageOf(varint(1 * 8 + 3), varint(1 * 8 + 4)), 'proto: wrong wireType = 3 for field 1'],
    ['a time nobody can write', bytesField(1, bytesField(8, integerField(1, 1e15))), 'outside of the years 0 to 9999'],
    ['raw JSON that is none', bytesField(1, bytesField(17, bytesField(7, bytesField(1, '{')))), 'is not JSON'],
  ])('refuses %s', (_, raw, why) => {
    expect(() => decodeProtobuf(configMapSchema, raw)).toThrow(ProtobufError)
    expect(() => decodeProtobuf(configMapSchema, raw)).toThrow(why)
  })

  it('refuses messages that nest without end', () => {
    const selfish: ObjectSchema = {
      type: 'object',
      name: 'io.k8s.api.core.v1.Affinity',
      doc: '',
      fields: { nodeAffinity: { schema: { type: 'lazy', resolve: () => selfish }, doc: '', required: false } },
    }
    const nested = (depth: number): Buffer => (depth === 0 ? Buffer.alloc(0) : bytesField(1, nested(depth - 1)))
    expect(() => decodeProtobuf(selfish, nested(200))).not.toThrow()
    expect(() => decodeProtobuf(selfish, nested(201))).toThrow('exceeded max depth')
  })
})

describe('any body', () => {
  const send = (body: Buffer) =>
    parseObject(body, {
      contentType: 'application/vnd.kubernetes.protobuf',
      expected: { group: '', kind: 'Pod', version: 'v1', schema: podSchema },
      fieldValidation: 'Warn',
    })
  const pod = arbitraryOf(podSchema).map((value) => enveloped('v1', 'Pod', encodeProtobuf(podSchema, value)))

  it('of random bytes is read or refused with 400', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const answer = await send(enveloped('v1', 'Pod', Buffer.from(bytes))).catch((error: unknown) => error)
        if (answer instanceof Error) expect(answer).toMatchObject({ code: 400, reason: 'BadRequest' })
      }),
      { numRuns: 500 },
    )
  })

  it('of a pod with a byte changed or the end cut off is read or refused with 400', async () => {
    await fc.assert(
      fc.asyncProperty(pod, fc.nat(), fc.nat(255), fc.boolean(), async (body, at, byte, cut) => {
        const changed = Buffer.from(body)
        changed[at % changed.length] = byte
        const sent = cut ? changed.subarray(0, at % changed.length) : changed
        const answer = await send(sent).catch((error: unknown) => error)
        if (answer instanceof Error) expect(answer).toMatchObject({ code: 400, reason: 'BadRequest' })
      }),
      { numRuns: 200 },
    )
  })

  it('says what it should be and begins with', async () => {
    await expect(send(Buffer.from('rubbish'))).rejects.toThrow(
      'the object provided is unrecognized (must be of type Pod): provided data does not appear to be a protobuf ' +
        'message, expected prefix [107 56 115 0] (72756262697368)',
    )
    await expect(send(enveloped('v1', 'Pod', integerField(1, 5)))).rejects.toThrow(
      'Pod in version "v1" cannot be handled as a Pod: proto: wrong wireType = 0 for field 1',
    )
  })

  it('of another kind is left to be refused by its kind', async () => {
    expect((await send(enveloped('v1', 'Secret', integerField(1, 5)))).value).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
    })
  })
})

describe('what Go clients write', () => {
  // A schema in a definition of custom resources may be one thing or another, which its own schema does not say.
  const plain = kinds.filter(({ name }) => !name.endsWith('.CustomResourceDefinition'))
  it.each(plain.map((schema) => [schema.name.split('.').at(-1), schema] as const))(
    'of a %s is read as the JSON they would write',
    (_, schema) => {
      fc.assert(
        fc.property(arbitraryOf(schema), (value) => {
          expect(decodeProtobuf(schema, encodeProtobuf(schema, value))).toEqual(asWritten(schema, value))
        }),
        { numRuns: 30 },
      )
    },
  )
})

/**
 * What is left of a value: only fields with numbers, and no empty ones unless they are chosen or required. What is a struct in
 * Go, and what is required, is there.
 */
function asWritten(schema: Schema, value: unknown): unknown {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list') return (value as readonly unknown[]).map((each) => asWritten(resolved.items, each))
  if (resolved.type === 'map') {
    const entries = Object.entries(value as object).map(([key, each]) => [key, asWritten(resolved.values, each)])
    return Object.fromEntries(entries)
  }
  if (resolved.type !== 'object') return value
  const given = value as Readonly<Record<string, unknown>>
  const written: Record<string, unknown> = {}
  for (const { name } of namedFields(resolved)) {
    const field = resolved.fields[name]
    if (field === undefined) continue
    const each = given[name] ?? unsetOf(field)
    if (each === undefined) continue
    if (each !== omittedZero(field)) written[name] = asWritten(field.schema, each)
  }
  return written
}

function unsetOf({ schema, byValue, pointer, default: whenAbsent }: Field): unknown {
  const { type } = resolveSchema(schema)
  if (pointer === true) return undefined
  if (type === 'object') return byValue === true || whenAbsent !== undefined ? {} : undefined
  return type === 'string' ? '' : type === 'integer' ? 0 : type === 'boolean' ? false : undefined
}

type NamedField = Extract<ProtobufField, { readonly name: string }>

/** The fields of a message that the schema knows, those of embedded ones among them. */
function namedFields({ name, fields }: ObjectSchema): readonly NamedField[] {
  const flat = (all: readonly ProtobufField[]): readonly NamedField[] =>
    all.flatMap((field) => ('name' in field ? [field] : flat(field.embedded)))
  return flat(protobufFieldsOf(name) ?? []).filter((field) => fields[field.name] !== undefined)
}

const isWholeObject = (schema: ObjectSchema): boolean => kinds.includes(schema) || schema.fields.metadata !== undefined

describe('the numbers of fields', () => {
  it('are there for every kind that is served', () => {
    expect(kinds.filter((schema) => !hasProtobufFields(schema)).map(({ name }) => name)).toEqual([])
  })

  it('are there for every field', () => {
    const missing = new Set<string>()
    const visit = (schema: Schema, seen: Set<Schema>): void => {
      const resolved = resolveSchema(schema)
      if (seen.has(resolved)) return
      seen.add(resolved)
      if (resolved.type === 'list') visit(resolved.items, seen)
      if (resolved.type === 'map') visit(resolved.values, seen)
      if (resolved.type !== 'object') return
      const known = new Set(namedFields(resolved).map(({ name }) => name))
      for (const [name, field] of Object.entries(resolved.fields)) {
        // Kind and version of a whole object are in the envelope, or follow from where it stands.
        if ((name === 'apiVersion' || name === 'kind') && isWholeObject(resolved)) continue
        if (known.has(name)) visit(field.schema, seen)
        else missing.add(`${resolved.name.split('.').at(-1)}.${name}`)
      }
    }
    for (const schema of kinds) visit(schema, new Set())
    expect([...missing]).toEqual([])
  })

  it('are given once, and the lines that give them can be read', () => {
    for (const definition of protobufDefinitions()) {
      const fields = protobufFieldsOf(definition) ?? []
      // The one message without fields: what it says is that it is there.
      const isEmpty = definition.endsWith('.CustomResourceSubresourceStatus')
      expect(fields.length > 0, definition).toBe(!isEmpty)
      const numbers = fields.map(({ number }) => number)
      expect(numbers, definition).toEqual([...new Set(numbers)].sort((a, b) => a - b))
      for (const field of fields) {
        expect('name' in field ? field.name : field.embedded.length, definition).toBeTruthy()
      }
    }
  })
})
