/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const apiregistrationMessages = {
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1': `
APIService: metadata spec status
APIServiceCondition: type status lastTransitionTime! reason message
APIServiceSpec: service group version insecureSkipTLSVerify caBundle 7:groupPriorityMinimum versionPriority
APIServiceStatus: conditions
ServiceReference: namespace name port
`,
}
