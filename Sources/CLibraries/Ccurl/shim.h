#include <curl/curl.h>

// Swift can't call the variadic curl_easy_setopt, so there is a function for each type in use.
typedef size_t (*sp_curl_bytes)(char *, size_t, size_t, void *);

static inline CURLcode sp_curl_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode sp_curl_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode sp_curl_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode sp_curl_take(CURL *handle, CURLoption option, sp_curl_bytes function) {
    return curl_easy_setopt(handle, option, function);
}
static inline CURLcode sp_curl_connect(CURL *handle, curl_opensocket_callback function) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline int sp_curl_is_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (message == NULL || message->msg != CURLMSG_DONE) return 0;
    *result = message->data.result;
    return 1;
}
