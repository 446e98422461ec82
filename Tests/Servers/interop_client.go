// A client of gRPC's interoperability tests on grpc-go.
//
// usage: interop-client [-ca FILE] ADDRESS CASE...
//
// Prints each case that passes, and ends with an error at the first that does not. The cases are those of
// https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md, and status_details of demo.proto's service. Those
// of cancellation and deadlines do not see that the server is notified: its log has this.
//
// scripts/debian-go compiles it with the code that protoc generates from interop.proto.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	largeRequest, largeResponse = 271828, 314159
	specialMessage              = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
	initialKey, trailingKey     = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
	// No case takes this long.
	patience = time.Minute
)

var (
	requestSizes  = []int{27182, 8, 1828, 45904}
	responseSizes = []int32{31415, 9, 2653, 58979}
)

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

func expect(isMet bool, format string, values ...interface{}) {
	if !isMet {
		log.Panicf(format, values...)
	}
}

func expectStatus(err error, code codes.Code, message string) {
	found, ok := status.FromError(err)
	expect(ok && found.Code() == code, "%v is not %v", err, code)
	expect(message == "" || found.Message() == message, "the message is %q", found.Message())
}

func payloadOf(size int) *Payload { return &Payload{Body: make([]byte, size)} }

func expectPayload(payload *Payload, size int32) {
	expect(len(payload.GetBody()) == int(size), "a payload of %d bytes, not of %d", len(payload.GetBody()), size)
}

func output(sizes ...int32) *StreamingOutputCallRequest {
	request := &StreamingOutputCallRequest{}
	for _, size := range sizes {
		request.ResponseParameters = append(request.ResponseParameters, &ResponseParameters{Size: size})
	}
	return request
}

func withMetadata(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, initialKey, "test_initial_metadata_value", trailingKey, "\xab\xab\xab")
}

func expectMetadata(header, trailer metadata.MD) {
	expect(fmt.Sprint(header.Get(initialKey)) == "[test_initial_metadata_value]", "headers: %v", header)
	expect(fmt.Sprint(trailer.Get(trailingKey)) == "[\xab\xab\xab]", "trailers: %v", trailer)
}

func largeUnary(ctx context.Context, client TestServiceClient, options ...grpc.CallOption) {
	request := &SimpleRequest{ResponseSize: largeResponse, Payload: payloadOf(largeRequest)}
	response, err := client.UnaryCall(ctx, request, options...)
	check(err)
	expectPayload(response.Payload, largeResponse)
}

func statusMessage(ctx context.Context, client TestServiceClient, message string) {
	wanted := &EchoStatus{Code: int32(codes.Unknown), Message: message}
	_, err := client.UnaryCall(ctx, &SimpleRequest{ResponseStatus: wanted})
	expectStatus(err, codes.Unknown, message)
	stream, err := client.FullDuplexCall(ctx)
	check(err)
	check(stream.Send(&StreamingOutputCallRequest{ResponseStatus: wanted}))
	check(stream.CloseSend())
	_, err = stream.Recv()
	expectStatus(err, codes.Unknown, message)
}

// pingPong sends each request after the response to the one before, and leaves the stream open.
func pingPong(ctx context.Context, client TestServiceClient) TestService_FullDuplexCallClient {
	stream, err := client.FullDuplexCall(ctx)
	check(err)
	for index, size := range responseSizes {
		request := output(size)
		request.Payload = payloadOf(requestSizes[index])
		check(stream.Send(request))
		response, err := stream.Recv()
		check(err)
		expectPayload(response.Payload, size)
	}
	return stream
}

func expectEnd(stream interface {
	Recv() (*StreamingOutputCallResponse, error)
}) {
	_, err := stream.Recv()
	expect(err == io.EOF, "the stream does not end: %v", err)
}

var cases = map[string]func(context.Context, TestServiceClient, *grpc.ClientConn){
	"empty_unary": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		_, err := client.EmptyCall(ctx, &Empty{})
		check(err)
	},
	"large_unary": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		largeUnary(ctx, client)
	},
	"client_compressed_unary": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		largeUnary(ctx, client, grpc.UseCompressor(gzip.Name))
	},
	"client_streaming": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		stream, err := client.StreamingInputCall(ctx)
		check(err)
		sum := 0
		for _, size := range requestSizes {
			check(stream.Send(&StreamingInputCallRequest{Payload: payloadOf(size)}))
			sum += size
		}
		response, err := stream.CloseAndRecv()
		check(err)
		expect(int(response.AggregatedPayloadSize) == sum, "a sum of %d bytes", response.AggregatedPayloadSize)
	},
	"server_streaming": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		stream, err := client.StreamingOutputCall(ctx, output(responseSizes...))
		check(err)
		for _, size := range responseSizes {
			response, err := stream.Recv()
			check(err)
			expectPayload(response.Payload, size)
		}
		expectEnd(stream)
	},
	"ping_pong": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		stream := pingPong(ctx, client)
		check(stream.CloseSend())
		expectEnd(stream)
	},
	"empty_stream": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		stream, err := client.FullDuplexCall(ctx)
		check(err)
		check(stream.CloseSend())
		expectEnd(stream)
	},
	"custom_metadata": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		ctx = withMetadata(ctx)
		var header, trailer metadata.MD
		_, err := client.UnaryCall(ctx, &SimpleRequest{ResponseSize: 9}, grpc.Header(&header), grpc.Trailer(&trailer))
		check(err)
		expectMetadata(header, trailer)
		stream := pingPong(ctx, client)
		check(stream.CloseSend())
		expectEnd(stream)
		header, err = stream.Header()
		check(err)
		expectMetadata(header, stream.Trailer())
	},
	"status_code_and_message": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		statusMessage(ctx, client, "test status message")
	},
	"special_status_message": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		statusMessage(ctx, client, specialMessage)
	},
	"unimplemented_method": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		_, err := client.UnimplementedCall(ctx, &Empty{})
		expectStatus(err, codes.Unimplemented, "")
	},
	"unimplemented_service": func(ctx context.Context, _ TestServiceClient, connection *grpc.ClientConn) {
		_, err := NewUnimplementedServiceClient(connection).UnimplementedCall(ctx, &Empty{})
		expectStatus(err, codes.Unimplemented, "")
	},
	"cancel_after_begin": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithCancel(ctx)
		stream, err := client.StreamingInputCall(ctx)
		check(err)
		cancel()
		_, err = stream.CloseAndRecv()
		expectStatus(err, codes.Canceled, "")
	},
	"cancel_after_first_response": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithCancel(ctx)
		stream := pingPong(ctx, client)
		cancel()
		_, err := stream.Recv()
		expectStatus(err, codes.Canceled, "")
	},
	"timeout_on_sleeping_server": func(ctx context.Context, client TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		stream := pingPong(ctx, client)
		_, err := stream.Recv()
		expectStatus(err, codes.DeadlineExceeded, "")
	},
	"status_details": func(ctx context.Context, _ TestServiceClient, connection *grpc.ClientConn) {
		err := connection.Invoke(ctx, "/demo.v1.Demo/Find", &Empty{}, &Empty{})
		expectStatus(err, codes.NotFound, `no item ""`)
		details := status.Convert(err).Details()
		expect(len(details) == 2, "details: %v", details)
		info, ok := details[0].(*errdetails.ErrorInfo)
		expect(ok && info.Reason == "ITEM_NOT_FOUND", "the first detail: %v", details[0])
	},
}

func main() {
	authority := flag.String("ca", "", "the authority of the server's certificate (PEM); without it, no TLS")
	flag.Parse()
	security := grpc.WithInsecure()
	if *authority != "" {
		credential, err := credentials.NewClientTLSFromFile(*authority, "")
		check(err)
		security = grpc.WithTransportCredentials(credential)
	}
	if flag.NArg() == 0 {
		log.Fatal("missing argument: ADDRESS")
	}
	connection, err := grpc.Dial(flag.Arg(0), security)
	check(err)
	defer connection.Close()
	client := NewTestServiceClient(connection)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, name := range flag.Args()[1:] {
		run, ok := cases[name]
		expect(ok, "no such case: %s", name)
		run(ctx, client, connection)
		fmt.Fprintln(os.Stdout, name)
	}
}
