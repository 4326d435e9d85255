/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const admissionregistrationMessages = {
  'io.k8s.api.admissionregistration.v1': `
ApplyConfiguration: expression
AuditAnnotation: key valueExpression
ExpressionWarning: 2:fieldRef warning
JSONPatch: expression
MatchCondition: name expression
MatchResources: namespaceSelector objectSelector resourceRules excludeResourceRules 7:matchPolicy
MutatingAdmissionPolicy: metadata spec
MutatingAdmissionPolicyBinding: metadata spec
MutatingAdmissionPolicyBindingSpec: policyName paramRef matchResources
MutatingAdmissionPolicySpec: paramKind matchConstraints variables mutations failurePolicy matchConditions
  reinvocationPolicy
MutatingWebhook: name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds
  admissionReviewVersions matchPolicy reinvocationPolicy objectSelector matchConditions
MutatingWebhookConfiguration: metadata webhooks
Mutation: 2:patchType applyConfiguration jsonPatch
NamedRuleWithOperations: resourceNames ...RuleWithOperations
ParamKind: apiVersion kind
ParamRef: name namespace selector parameterNotFoundAction
Rule: apiGroups apiVersions resources scope
RuleWithOperations: operations ...Rule
ServiceReference: namespace name path port
TypeChecking: expressionWarnings
ValidatingAdmissionPolicy: metadata spec status
ValidatingAdmissionPolicyBinding: metadata spec
ValidatingAdmissionPolicyBindingSpec: policyName paramRef matchResources validationActions
ValidatingAdmissionPolicySpec: paramKind matchConstraints validations failurePolicy auditAnnotations matchConditions
  variables
ValidatingAdmissionPolicyStatus: observedGeneration typeChecking conditions
ValidatingWebhook: name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds
  admissionReviewVersions matchPolicy objectSelector matchConditions
ValidatingWebhookConfiguration: metadata webhooks
Validation: expression message reason messageExpression
Variable: name expression
WebhookClientConfig: service caBundle url
`,
} as const
