/**
 * @typedef {object} Operation
 * @property {{ required?: boolean, schema: { example?: unknown } }[]} [parameters]
 * @property {{ content: Record<string, { schema: { properties?: Record<string, { contentMediaType?: string }> } }> }} [requestBody]
 */
/** @typedef {{ servers: object[], paths: Record<string, Record<string, Operation>> }} ApiDocument */

/** Shows the API reference. Requests that are tried go to the server of the page. */
async function showReference() {
  // A proxy may serve the page under any name and path.
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
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    showExtensions: true,
    tryItOutEnabled: true,
    // By default, another host validates the document.
    validatorUrl: null,
  });
}

/** Changes an operation so that Swagger UI draws a usable form. @param {Operation} operation */
function adaptOperation({ parameters = [], requestBody }) {
  // Swagger UI fills in examples, which are useless for optional filters and keys.
  for (const { required, schema } of parameters) if (!required) delete schema.example;
  for (const { schema } of Object.values(requestBody?.content ?? {})) {
    for (const field of Object.values(schema.properties ?? {})) {
      // Swagger UI takes every string with a media type for a file.
      if (field.contentMediaType === 'application/json') delete field.contentMediaType;
    }
  }
}

// Swagger UI has a dark style, but does not follow the preference of the browser.
document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);
await showReference();
