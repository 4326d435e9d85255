import { FieldPath } from '../../field-path.ts'
import { templateMetadataErrors } from '../core/pod/validation/volumes.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
import { deviceChecks } from './device-checks.ts'
import { withClaimDefaults } from './resource-claim.ts'
import { type ResourceClaimTemplate, resourceClaimTemplateSchema } from './resource-claim-schema.ts'

const specPath = FieldPath.of('spec')

/** `resource.k8s.io/v1` resourceclaimtemplates. */
export const resourceClaimTemplates = kind<ResourceClaimTemplate>(resourceClaimTemplateSchema, {
  plural: 'resourceclaimtemplates',
  defaults: (template) => {
    const spec = withClaimDefaults(template.spec.spec)
    return spec === template.spec.spec ? template : { ...template, spec: { ...template.spec, spec } }
  },
  rules: { returnsDeletedObject: true },
  load: deviceChecks.load,
  validateCreate: ({ spec }) => [
    ...templateMetadataErrors(spec.metadata, specPath.field('metadata')),
    ...deviceChecks.get().checkDeviceClaim(spec.spec.devices ?? {}, specPath.field('spec').field('devices')),
  ],
  validateUpdate: ({ spec }, old) => checkUnchanged(spec, old.spec, specPath, 'resource.ResourceClaimTemplateSpec'),
})
