import { type FieldError, forbiddenField, invalidField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { int32, microTime, object, optional, pointer, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { checkNonNegative } from '../validation.ts'

const coordinationV1 = 'io.k8s.api.coordination.v1'

export interface LeaseSpec extends Infer<typeof leaseSpec> {}
export const leaseSpec = object(`${coordinationV1}.LeaseSpec`, 'Who holds a lease, and until when.', {
  holderIdentity: pointer(string(), 'Who holds it. Empty: nobody.'),
  leaseDurationSeconds: pointer(int32(), 'Seconds after renewTime at which others may take it.'),
  acquireTime: optional(microTime, 'When the holder got it.'),
  renewTime: optional(microTime, 'When the holder last renewed it.'),
  leaseTransitions: pointer(int32(), 'How often it went from one holder to another.'),
  strategy: pointer(string(), 'How the holder is chosen where that is coordinated, such as OldestEmulationVersion.'),
  preferredHolder: pointer(string(), 'Who is to get it next. Asks for a strategy.'),
})

/** Who is in charge of something, or alive, and until when. */
export interface Lease extends Infer<typeof leaseSchema> {}
export const leaseSchema = kindSchema(
  `${coordinationV1}.Lease`,
  'Says who is in charge of something and until when: leaders hold one, and nodes renew one to show that they are alive.',
  { spec: optional(leaseSpec, 'Who holds the lease, and until when.', { default: {} }) },
)

const specPath = FieldPath.of('spec')

function validate({ spec }: Lease): readonly FieldError[] {
  if (spec === undefined) return []
  const { leaseDurationSeconds, strategy, preferredHolder } = spec
  const errors: FieldError[] = []
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalidField(specPath.field('leaseDurationSeconds'), leaseDurationSeconds, 'must be greater than 0'))
  }
  errors.push(...checkNonNegative(spec.leaseTransitions, specPath.field('leaseTransitions')))
  if (strategy !== undefined) errors.push(...validateStrategy(strategy))
  if (preferredHolder && !strategy) {
    errors.push(forbiddenField(specPath.field('preferredHolder'), 'may only be specified if `strategy` is defined'))
  }
  return errors
}

/** A name without a slash must be one that is known; others belong to their domain. */
function validateStrategy(strategy: string): readonly FieldError[] {
  // Upstream's messages have the field twice.
  const path = specPath.field('strategy').field('strategy')
  if (strategy.includes('/')) {
    return checkFormat('qualified-name', strategy).map((problem) => invalidField(path, strategy, problem))
  }
  return strategy === 'OldestEmulationVersion' ? [] : [unsupportedField(path, strategy, ['OldestEmulationVersion'])]
}

/** `coordination.k8s.io/v1` leases. */
export const leases = kind<Lease>(leaseSchema, {
  plural: 'leases',
  columns: [
    nameColumn,
    column('Holder', ({ spec }) => spec?.holderIdentity ?? '', { field: 'spec.holderIdentity' }),
    ageColumn,
  ],
  rules: { createsOnUpdate: true, updatesUnconditionally: false },
  finalizers: 'any',
  prepareForCreate: (lease) => withoutCoordination(lease, undefined),
  prepareForUpdate: withoutCoordination,
  validate,
})

/** Fields that upstream takes only with a feature that is off unless asked for (CoordinatedLeaderElection). */
function withoutCoordination(lease: Lease, old: Lease | undefined): Lease {
  const { strategy, preferredHolder, ...spec } = lease.spec ?? {}
  if (strategy === undefined && preferredHolder === undefined) return lease
  return {
    ...lease,
    spec: {
      ...spec,
      ...(strategy === undefined || old?.spec?.strategy === undefined ? {} : { strategy }),
      ...(preferredHolder === undefined || old?.spec?.preferredHolder === undefined ? {} : { preferredHolder }),
    },
  }
}
