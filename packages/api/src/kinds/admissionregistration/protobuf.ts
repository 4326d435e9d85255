/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const admissionregistrationMessages = {
  'io.k8s.api.admissionregistration.v1': `
MatchCondition: name expression
MutatingWebhook: name clientConfig rules failurePolicy* namespaceSelector sideEffects* timeoutSeconds*
  admissionReviewVersions matchPolicy* reinvocationPolicy* objectSelector matchConditions
MutatingWebhookConfiguration: metadata webhooks
Rule: apiGroups apiVersions resources scope*
RuleWithOperations: operations ...Rule
ServiceReference: namespace name path* port*
ValidatingWebhook: name clientConfig rules failurePolicy* namespaceSelector sideEffects* timeoutSeconds*
  admissionReviewVersions matchPolicy* objectSelector matchConditions
ValidatingWebhookConfiguration: metadata webhooks
WebhookClientConfig: service caBundle url*
`,
} as const
