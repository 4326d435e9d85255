/** A kind with something of everything the schema language can say, for tests of what interprets schemas. */

import { column, nameColumn, wideColumn } from '../kinds/columns.ts'
import { kind } from '../kinds/kind.ts'
import { kindSchema } from '../meta.ts'
import {
  any,
  anyObject,
  atomicList,
  boolean,
  bytes,
  double,
  enumOf,
  int32,
  int64,
  intOrString,
  lazy,
  list,
  mapList,
  mapOf,
  microTime,
  object,
  optional,
  quantity,
  required,
  setList,
  string,
  stringMap,
  time,
} from '../schema/builders.ts'
import type { Infer, Schema } from '../schema/schema.ts'

const prefix = 'example.test.v1'

export const port = object(`${prefix}.Port`, 'A port.', {
  name: optional(string(), 'Name of the port.'),
  number: required(int32({ minimum: 1, maximum: 65535 }), 'The port.'),
  protocol: optional(enumOf('TCP', 'UDP'), 'The protocol.', { default: 'TCP' }),
})

export const part = object(`${prefix}.Part`, 'A part.', {
  name: required(string({ format: 'dns1123-label' }), 'Name of the part.'),
  image: optional(string(), 'What the part runs.'),
  command: optional(list(string()), 'Its command.'),
  ports: optional(mapList(port, ['number', 'protocol']), 'Its ports.'),
  limits: optional(mapOf(quantity), 'What it may use.'),
})

export const source = object(
  `${prefix}.Source`,
  'Where a volume comes from.',
  {
    name: required(string(), 'Name of the volume.'),
    secret: optional(
      object(`${prefix}.SecretSource`, 'A secret.', { key: optional(string(), 'Its key.') }),
      'A secret.',
    ),
    empty: optional(
      object(`${prefix}.EmptySource`, 'An empty directory.', { size: optional(quantity, 'Its size.') }),
      'Nothing.',
    ),
  },
  { unions: [{ fields: ['secret', 'empty'], arity: 'exactly-one' }] },
)

export interface Tree {
  readonly label?: string | undefined
  readonly branches?: readonly Tree[] | undefined
}
export const tree: Schema<Tree> = object(`${prefix}.Tree`, 'A tree.', {
  label: optional(string(), 'What it is called.'),
  branches: optional(list(lazy((): Schema<Tree> => tree)), 'Its branches.'),
})

export const widgetSpec = object(`${prefix}.WidgetSpec`, 'What is wanted.', {
  replicas: optional(int32({ minimum: 0 }), 'How many.', { default: 1 }),
  selector: optional(stringMap, 'Which.', { immutable: true }),
  parts: required(mapList(part, ['name']), 'The parts.'),
  sources: optional(mapList(source, ['name'], { patchStrategy: 'merge,retainKeys' }), 'The volumes.'),
  tags: optional(setList(string(), { patchStrategy: 'merge' }), 'Tags.'),
  steps: optional(atomicList(string(), { maxItems: 5 }), 'Steps.'),
  strategy: optional(
    object(`${prefix}.Strategy`, 'How.', {
      type: optional(string(), 'Which way.', { default: 'Rolling' }),
      rolling: optional(object('', '', { surge: optional(intOrString, 'More.', { default: '25%' }) }), 'Rolling.'),
    }),
    'How it changes.',
    { patchStrategy: 'retainKeys' },
  ),
  size: optional(int64(), 'A large number.'),
  weight: optional(double(), 'A fraction.'),
  paused: optional(boolean, 'Whether it rests.'),
  budget: optional(quantity, 'What it costs.'),
  startTime: optional(time, 'When it began.'),
  renewTime: optional(microTime, 'When it was renewed.'),
  data: optional(mapOf(bytes), 'Bytes.'),
  config: optional(anyObject(`${prefix}.Config`, 'Anything.'), 'Anything.'),
  extra: optional(any, 'Anything at all.'),
  tree: optional(tree, 'A tree.'),
  note: optional(string({ maxLength: 10, nullable: true }), 'A note.'),
})

export interface Widget extends Infer<typeof widget> {}
export const widget = kindSchema(`${prefix}.Widget`, 'A widget.', {
  spec: optional(widgetSpec, 'What is wanted.'),
  status: optional(
    object(`${prefix}.WidgetStatus`, 'What is.', { replicas: required(int32(), 'How many there are.') }),
    'What is.',
  ),
})

export const widgets = kind<Widget>(widget, {
  group: 'example.test',
  plural: 'widgets',
  shortNames: ['wd'],
  categories: ['all'],
  subresources: { run: { kind: 'Run', verbs: ['create'] } },
  columns: [
    nameColumn,
    wideColumn('Wanted', ({ spec }) => spec?.replicas ?? 0, { field: 'spec.replicas' }),
    column('Now', (_, nowMs) => nowMs, { type: 'integer', description: 'The time.' }),
  ],
  selectableFields: { 'spec.budget': ({ spec }) => spec?.budget ?? '' },
})
