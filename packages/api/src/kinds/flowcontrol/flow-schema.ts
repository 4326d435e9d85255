import { compareText } from '../../compare-text.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { flowChecks } from './flow-checks.ts'
import { type FlowSchema, flowSchemaSchema } from './flow-schema-schema.ts'

/** Whether the level is missing that a schema names, as its status has it; `?` before anybody has looked. */
const missingLevel = ({ status }: FlowSchema): string =>
  status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'

/** What a schema has that says nothing of it, or 0 (SetDefaults_FlowSchemaSpec). */
const matchingPrecedenceDefault = 1000

/** A schema with a precedence. */
export const withPrecedence = (schema: FlowSchema): FlowSchema =>
  schema.spec === undefined || schema.spec.matchingPrecedence !== 0
    ? schema
    : { ...schema, spec: { ...schema.spec, matchingPrecedence: matchingPrecedenceDefault } }

/** The lower its precedence, the earlier a schema is asked (FlowSchemaSequence). */
const byPrecedence = (a: FlowSchema, b: FlowSchema): number =>
  (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) ||
  compareText(a.metadata.name ?? '', b.metadata.name ?? '')

/** `flowcontrol.apiserver.k8s.io/v1` flowschemas. */
export const flowSchemas = kind<FlowSchema>(flowSchemaSchema, {
  plural: 'flowschemas',
  namespaced: false,
  countsGenerations: true,
  rules: { statusKeeps: 'metadata' },
  columns: [
    nameColumn,
    column('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration.name ?? '', {
      type: 'string',
      description: 'The level at which requests that match are answered.',
    }),
    column('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0, {
      type: 'string',
      description: 'Of schemas that match the one with the lowest number counts.',
    }),
    column('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>', {
      type: 'string',
      description: 'What tells flows apart.',
    }),
    ageColumn,
    column('MissingPL', missingLevel, { type: 'string', description: 'Whether the level is not there.' }),
  ],
  tableOrder: byPrecedence,
  defaults: withPrecedence,
  load: flowChecks.load,
  validate: (schema) => flowChecks.get().validateFlowSchema(schema),
  validateStatusUpdate: (schema) => flowChecks.get().validateFlowSchemaStatus(schema),
})
