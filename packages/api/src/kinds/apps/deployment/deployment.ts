import { FieldPath } from '../../../field-path.ts'
import { withFields } from '../../../schema/with-fields.ts'
import { formatSelector } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { nameWarnings, podTemplateWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import { selectorScale } from '../selector-scale.ts'
import { type Deployment, type DeploymentStrategy, deploymentSchema, deploymentSpec } from './deployment-schema.ts'
import {
  validateDeployment,
  validateDeploymentStatusUpdate,
  validateDeploymentUpdate,
} from './deployment-validation.ts'

const templatePath = FieldPath.of('spec', 'template')
const rollingUpdateDefault = '25%'

/** apps/v1 SetDefaults_Deployment. */
function withDefaults(deployment: Deployment): Deployment {
  const { template, strategy = {} } = deployment.spec
  const spec = withFields(deploymentSpec, deployment.spec, {
    template: podTemplateDefaults(template),
    strategy: strategyDefaults(strategy),
  })
  return withFields(deploymentSchema, deployment, { spec })
}

function strategyDefaults(strategy: DeploymentStrategy): DeploymentStrategy {
  const type = strategy.type || 'RollingUpdate'
  if (type !== 'RollingUpdate') return strategy
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {}
  if (strategy.type !== undefined && maxUnavailable !== undefined && maxSurge !== undefined) return strategy
  return {
    type,
    rollingUpdate: {
      maxUnavailable: maxUnavailable ?? rollingUpdateDefault,
      maxSurge: maxSurge ?? rollingUpdateDefault,
    },
  }
}

/** `apps/v1` deployments. */
export const deployments = kind<Deployment>(deploymentSchema, {
  plural: 'deployments',
  rules: { statusKeeps: ['labels'] },
  shortNames: ['deploy'],
  categories: ['all'],
  scale: selectorScale<Deployment>(),
  columns: [
    nameColumn,
    column('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 1}`, {
      type: 'string',
      description: 'How many pods are ready, of those wanted.',
    }),
    column('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0, 'How many pods are of the present template.'),
    column(
      'Available',
      ({ status }) => status?.availableReplicas ?? 0,
      'How many pods have been ready for long enough.',
    ),
    ageColumn,
    ...containerColumns<Deployment>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => formatSelector(spec.selector), { field: 'spec.selector' }),
  ],
  defaults: withDefaults,
  // Controllers copy annotations of a Deployment to its ReplicaSets: a change of them is one to act on.
  countsGenerations: 'with-annotations',
  prepareForCreate: (deployment) => ({ ...withoutDisabledTemplateFields(deployment), status: {} }),
  prepareForUpdate: withoutDisabledTemplateFields,
  validate: validateDeployment,
  validateUpdate: validateDeploymentUpdate,
  validateStatusUpdate: validateDeploymentStatusUpdate,
  warnings: (deployment, old) => [
    ...nameWarnings(deployment, old, 'Pod names and hostnames'),
    ...podTemplateWarnings(deployment.spec.template, templatePath, deployment, old),
  ],
})
