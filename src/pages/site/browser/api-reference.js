/**
 * @typedef {object} Operation
 * @property {{ required?: boolean, schema: { example?: unknown } }[]} [parameters]
 * @property {{ content: Record<string, { schema: { properties?: Record<string, { contentMediaType?: string }> } }> }} [requestBody]
 */
/** @typedef {{ servers: object[], paths: Record<string, Record<string, Operation>> }} ApiDocument */

/** Shows the API in the page, and sends requests that are tried out to the server that the page came from. */
async function showReference() {
  // From the address of this script, since a proxy may show the server under any name and path.
  const base = new URL('..', import.meta.url).href;
  const answer = await fetch(new URL('api/openapi.json', base));
  /** @type {ApiDocument} */
  const spec = await answer.json();
  spec.servers = [{ url: base.replace(/\/$/, '') }];
  for (const path of Object.values(spec.paths)) Object.values(path).forEach(adaptOperation);
  const SwaggerUIBundle = Reflect.get(globalThis, 'SwaggerUIBundle');
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    presets: [SwaggerUIBundle.presets.apis],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    showExtensions: true,
    tryItOutEnabled: true,
    // By default the package has another host check the document.
    validatorUrl: null,
  });
}

/**
 * Changes an operation to what the package makes a usable form of.
 *
 * @param {Operation} operation
 */
function adaptOperation({ parameters = [], requestBody }) {
  // The package fills in examples, and an optional filter or key of an example is never wanted.
  for (const { required, schema } of parameters) if (!required) delete schema.example;
  for (const { schema } of Object.values(requestBody?.content ?? {})) {
    for (const field of Object.values(schema.properties ?? {})) {
      // The package takes every text with a media type for a file.
      if (field.contentMediaType === 'application/json') delete field.contentMediaType;
    }
  }
}

await showReference();
